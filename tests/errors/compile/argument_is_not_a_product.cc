// tests/errors/compile/argument_is_not_a_product.cc -- an argument that is no product of tensors
// expect: hom:
#include <string>

#include "tests/errors/fails.h"

MISTAKE(argument_is_not_a_product) {
  const auto f = [](Tensor x, auto) { return x; };
#ifdef ALLOWED
  grad(f)(1.0, 2.0);
#else
  grad(f)(1.0, std::string("label"));  // here
#endif
}
