// docs/categories/programs.cc -- arrows as data: doubling n times takes n steps
#include <hom/categories/programs.h>

#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const categories::Programs k;
  const categories::Environment real{f64[{}]};
  const auto twofold = categories::plus(k, k.id(real), k.id(real));  // x + x
  auto f = k.id(real);
  for (int i = 0; i < 4; ++i) f = k.compose(twofold, f);
  std::cout << to_text(to_program(f));
}
