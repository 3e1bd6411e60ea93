// tests/errors/compile/wrt_not_ascending.cc -- arguments in another order than they stand
// expect: hom: wrt names arguments in ascending order, each once
#include "tests/errors/fails.h"

MISTAKE(wrt_not_ascending) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
#ifdef ALLOWED
  grad(f, wrt<0, 1>)(1.0, 2.0);
#else
  grad(f, wrt<1, 0>)(1.0, 2.0);  // here
#endif
}
