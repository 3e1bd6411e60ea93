// tests/errors/compile/question_mark_on_a_tensor.cc -- the conditional operator on a tensor
// expect: hom: a Tensor cannot decide C++ control flow
#include "tests/errors/fails.h"

MISTAKE(question_mark_on_a_tensor) {
  const Tensor x = 1.0;
#ifdef ALLOWED
  const Tensor y = where(x > 0, x, -x);
  static_cast<void>(y);
#else
  const Tensor y = x > 0 ? x : -x;  // here
  static_cast<void>(y);
#endif
}
