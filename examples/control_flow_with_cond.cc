// examples/control_flow_with_cond.cc -- choosing elements with where, and computations with cond
#include <cmath>
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  // C++ control flow that depends on no tensor runs while the lambda is captured.
  auto polynomial = [](Tensor x) {
    Tensor sum = 0.0;
    for (const double c : {1.0, -2.0, 3.0}) sum = sum * x + c;
    return sum;
  };
  std::cout << "polynomial'(2)    " << grad(polynomial)(2.0) << "\n";

  // where chooses element by element. The branch not taken never reaches the gradient, here the
  // infinite slope of √ at 0.
  auto root = [](Tensor x) { return sum(where(x > 0.0, sqrt(x), 0.0)); };
  std::cout << "root'(4, 0)       " << grad(root)(tensor({4.0, 0.0})) << "\n";

  // cond chooses a computation: one branch runs, and one branch is differentiated.
  auto smooth_abs = [](Tensor x) {
    return cond(x < 1.0, [](Tensor v) { return 0.5 * v * v; }, [](Tensor v) { return v - 0.5; }, x);
  };
  std::cout << "smooth_abs'(0.25) " << grad(smooth_abs)(0.25) << "\n";
  std::cout << "smooth_abs'(9)    " << grad(smooth_abs)(9.0) << "\n";

  // Both branches are in the program, which is one program for every x.
  std::cout << text(smooth_abs, f64[{}]);
}
