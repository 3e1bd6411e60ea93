// examples/picture_of_a_derivative.cc -- one lambda read as numbers, expression and picture
#include <iostream>

#include <hom/hom.h>

using namespace hom;

/// Writes the picture to the file named by the first argument, or to derivative.svg.
int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "derivative.svg";

  auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };  // an ordinary lambda
  auto [value, dx] = value_and_grad(f)(0.1, 0.2);              // its value and derivative,
  std::cout << value << ", " << dx << "\n";                    // as numbers
  std::cout << syntax(f, f64[{}], f64[{}]) << "\n";            // as an expression
  save_svg(graph(value_and_grad(f), f64[{}], f64[{}]), path);  // as a picture

  // The same program as text: one line for each step, which parse_program reads back.
  std::cout << text(value_and_grad(f), f64[{}], f64[{}]);
}
