// tests/errors/compile/vmap_of_too_few_arguments.cc -- a map of a function of two arguments, called
// with one
//
// expect: hom: the function cannot be called with tensors in place of these arguments
#include "tests/errors/fails.h"

MISTAKE(vmap_of_too_few_arguments) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
  const Tensor x = ones({3});
#ifdef ALLOWED
  vmap(f)(x, x);
#else
  vmap(f)(x);  // here
#endif
}
