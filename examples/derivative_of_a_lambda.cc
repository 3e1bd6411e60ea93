// examples/derivative_of_a_lambda.cc -- an ordinary lambda, its value, and its derivatives
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };

  // A lambda is a function of numbers and tensors as it is …
  std::cout << "f(0.1, 0.2)      " << f(0.1, 0.2) << "\n";

  // … and a function to differentiate: in its first argument,
  auto [value, dx] = value_and_grad(f)(0.1, 0.2);
  std::cout << "value            " << value << "\n";
  std::cout << "df/dx            " << dx << "\n";

  // in the arguments named by wrt,
  auto [dfdx, dfdy] = grad(f, wrt<0, 1>)(0.1, 0.2);
  std::cout << "df/dx, df/dy     " << dfdx << ", " << dfdy << "\n";

  // along a direction (forward mode), which costs about one more evaluation,
  auto [y, dy] = jvp(f, wrt<0, 1>)(0.1, 0.2, 1.0, -1.0);
  std::cout << "along (1, -1)    " << dy << "\n";

  // and again: derivatives are functions of the same arguments.
  std::cout << "second in x      " << grad(grad(f))(0.1, 0.2) << "\n";
  std::cout << "mixed            " << grad(grad(f), wrt<1>)(0.1, 0.2) << "\n";
  std::cout << "third in x       " << grad(grad(grad(f)))(0.1, 0.2) << "\n";
}
