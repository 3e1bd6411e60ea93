// tests/errors/run/fraction_in_an_integer_tensor.cc -- a C++ number that would lose its fraction
// expect: the number 0.5 does not fit i32
// expect: hint: a C++ number adopts the dtype of the tensor it meets
// expect: astype(f64)
#include "tests/errors/fails.h"

MISTAKE(fraction_in_an_integer_tensor) {
  const Tensor x = tensor({1, 2, 3});
#ifdef ALLOWED
  pad(x, 2.0, {1}, {1});
  pad(x.astype(f64), 0.5, {1}, {1});
#else
  pad(x, 0.5, {1}, {1});  // here
#endif
}
