// tests/errors/compile/wrong_number_of_arguments.cc -- a function of two arguments called with one
// expect: hom: the function cannot be called with tensors in place of these arguments
// expect: match the arguments in number
#include "tests/errors/fails.h"

MISTAKE(wrong_number_of_arguments) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
#ifdef ALLOWED
  grad(f)(1.0, 2.0);
#else
  grad(f)(1.0);  // here
#endif
}
