// examples/hessian_and_hvp.cc -- second derivatives, and their products with vectors
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  // Rosenbrock's valley, whose minimum is at (1, 1).
  auto valley = [](Tensor x) {
    const Tensor a = 1.0 - x[0];
    const Tensor b = x[1] - x[0] * x[0];
    return a * a + 100.0 * b * b;
  };
  const Tensor x = tensor({-1.0, 2.0});

  std::cout << "gradient        " << grad(valley)(x) << "\n";
  std::cout << "Hessian         " << hessian(valley)(x) << "\n";

  // H·v costs a few evaluations of the function, whatever the dimension.
  const Tensor v = tensor({1.0, 0.5});
  std::cout << "H·v             " << hvp(valley)(x, v) << "\n";
  std::cout << "the same        " << matmul(hessian(valley)(x), v) << "\n";

  // Newton's method, with the 2×2 inverse by hand (solvers come with a later version).
  Tensor at = x;
  for (int i = 0; i < 6; ++i) {
    const Tensor h = hessian(valley)(at);
    const Tensor g = grad(valley)(at);
    const Tensor determinant = h(0, 0) * h(1, 1) - h(0, 1) * h(1, 0);
    const Tensor first = h(1, 1) * g[0] - h(0, 1) * g[1];
    const Tensor second = h(0, 0) * g[1] - h(1, 0) * g[0];
    at -= stack({first, second}) / determinant;
  }
  std::cout << "Newton finds    " << round(at * 1e6) / 1e6 << "\n";
}
