// tests/errors/compile/parameter_is_not_a_tensor.cc -- a function of doubles
// expect: hom: the function cannot be called with tensors in place of these arguments
// expect: Its parameters must be Tensor
#include "tests/errors/fails.h"

MISTAKE(parameter_is_not_a_tensor) {
#ifdef ALLOWED
  grad([](Tensor x) { return x * x; })(1.0);
#else
  grad([](double x) { return x * x; })(1.0);  // here
#endif
}
