// tests/errors/compile/while_on_a_tensor.cc -- a C++ loop that ends when a tensor says so
// expect: hom: a Tensor cannot decide C++ control flow
#include "tests/errors/fails.h"

MISTAKE(while_on_a_tensor) {
  Tensor x = 1.0;
#ifdef ALLOWED
  while ((x < 100).item<bool>()) x *= 2;
#else
  while (x < 100) x *= 2;  // here
#endif
}
