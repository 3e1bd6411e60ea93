// examples/point_free_syntax.cc -- programs as expressions without variables, after Elliott's paper
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const TensorType real = f64[{}];

  // x and y become projections: exl takes the first factor of the argument, exr the second.
  auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
  std::cout << syntax(f, real, real) << "\n\n";

  // What is used twice has a name, so the length is linear in the program: no doubling here.
  auto doubled = [](Tensor x) {
    const Tensor y = sin(x);
    const Tensor z = y * y;
    return z + 1.0 / z;
  };
  std::cout << syntax(doubled, real) << "\n\n";

  // The derivative is a program too. Its coefficients multiply by `scale`, which is a product that
  // is 0 where a factor is 0, whatever the other is.
  std::cout << syntax(value_and_grad(f), real, real) << "\n\n";

  // A named function stays an arrow of its name.
  auto wave = named("wave", [](Tensor x) { return sin(3.0 * x); });
  std::cout << syntax([&](Tensor x) { return wave(x) + wave(2.0 * x); }, real) << "\n";
}
