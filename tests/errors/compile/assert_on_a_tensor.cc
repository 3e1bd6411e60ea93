// tests/errors/compile/assert_on_a_tensor.cc -- an elementwise comparison where one bool is needed
// expect: hom: a Tensor cannot decide C++ control flow
#include "tests/errors/fails.h"

MISTAKE(assert_on_a_tensor) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  const bool equal = array_equal(x, x);
  static_cast<void>(equal);
#else
  const bool equal{x == x};  // here
  static_cast<void>(equal);
#endif
}
