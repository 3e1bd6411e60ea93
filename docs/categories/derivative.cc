// docs/categories/derivative.cc -- a derivative is two functors on programs
#include <iostream>

#include <hom/categories/linearize.h>
#include <hom/categories/transpose.h>
#include <hom/hom.h>

using namespace hom;

int main() {
  const Program p = program([](Tensor x) { return sin(x) * x; }, f64[{}]);
  const Linearization lin = linearize(p, {true});
  std::cout << "primal: " << to_text(lin.primal);
  std::cout << "linear: " << to_text(lin.linear);
  // The residuals come first; only the tangent is transposed.
  std::vector<bool> is_tangent(lin.residual_count, false);
  is_tangent.push_back(true);
  std::cout << "transposed: " << to_text(transpose(lin.linear, is_tangent));
}
