// docs/categories/text.cc -- the let-form of a program, and back
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
  const Program p = program(f, f64[{}], f64[{}]);
  std::cout << to_text(p);
  std::cout << (parse_program(to_text(p)) == p ? "reads back\n" : "differs\n");
}
