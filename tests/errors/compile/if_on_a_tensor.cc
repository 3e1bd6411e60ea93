// tests/errors/compile/if_on_a_tensor.cc -- C++ control flow on the value of a tensor
// expect: hom: a Tensor cannot decide C++ control flow
// expect: Use where(condition, a, b)
// expect: cond(condition, then, otherwise, operands...)
// expect: condition.item<bool>()
#include "tests/errors/fails.h"

MISTAKE(if_on_a_tensor) {
#ifdef ALLOWED
  grad([](Tensor x) { return where(x > 0, x, -x); })(1.0);
#else
  grad([](Tensor x) {
    if (x > 0) return x;  // here
    return -x;
  })(1.0);
#endif
}
