// tests/errors/run/weak_number_does_not_fit.cc -- a C++ number that the dtype cannot hold
// expect: the number 300 does not fit u8
// expect: hint: a C++ number adopts the dtype of the tensor it meets
// expect: astype
#include "tests/errors/fails.h"

MISTAKE(weak_number_does_not_fit) {
  const Tensor x = zeros({3}, u8);
#ifdef ALLOWED
  x + 255;
  x.astype(i64) + 300;
#else
  x + 300;  // here
#endif
}
