// examples/arrows_and_lambdas.cc -- functions composed like arrows: >>, fork, cross, curry
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  // Operations are arrows in hom::arrows; `>>` reads "then", and a pair spreads over two arguments.
  auto square = arrows::dup >> arrows::mul;
  std::cout << "square(3)      " << square(Tensor(3.0)) << "\n";

  // `arrow` lifts a lambda, and where one side is an arrow the other may be a lambda as it is.
  auto bell = arrow([](Tensor x) { return -x * x; }) >> arrows::exp;
  auto shifted = [](Tensor x) { return x - 1.0; } >> bell;
  std::cout << "shifted(1)     " << shifted(Tensor(1.0)) << "\n";

  // fork gives several functions the same argument (△), cross gives each its own (×).
  auto both = fork(square, bell) >> arrows::add;
  auto apart = cross(square, bell) >> arrows::mul;
  std::cout << "both(0)        " << both(Tensor(0.0)) << "\n";
  std::cout << "apart(2, 0)    " << apart(Tensor(2.0), Tensor(0.0)) << "\n";

  // curry makes a function of one argument, which returns a function of the other.
  auto power = curry(arrows::pow);
  auto power_of_two = power(Tensor(2.0));
  std::cout << "2 to the 10    " << power_of_two(Tensor(10.0)) << "\n";

  // Composites are function objects like any other: differentiate them, draw them, print them.
  std::cout << "both'(0.5)     " << grad(both)(0.5) << "\n";
  std::cout << "both           " << syntax(both, f64[{}]) << "\n";
}
