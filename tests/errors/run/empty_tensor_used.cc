// tests/errors/run/empty_tensor_used.cc -- a default-constructed tensor
// expect: an empty tensor is used
// expect: hint: a default-constructed Tensor has no value
#include "tests/errors/fails.h"

MISTAKE(empty_tensor_used) {
  Tensor x;
#ifdef ALLOWED
  x = 1.0;
  sin(x);
#else
  sin(x);  // here
#endif
}
