// docs/categories/values.cc -- a program as a function on arrays, at once and step by step
#include <iostream>

#include <hom/categories/interpret.h>
#include <hom/hom.h>

using namespace hom;

int main() {
  const auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
  const Program p = program(f, f64[{}], f64[{}]);
  std::cout << evaluate(p, {0.1, 0.2})[0] << "\n";

  // The same function, composed of those of its steps.
  using Functions = categories::Functions<categories::Arrays>;
  const Functions::Arrow arrow = categories::read(Functions{}, p);
  std::cout << arrow({0.1, 0.2})[0] << "\n";
}
