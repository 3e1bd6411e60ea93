// tests/errors/compile/wrt_of_nothing.cc -- a derivative in no argument at all
// expect: hom: wrt names at least one argument
#include "tests/errors/fails.h"

MISTAKE(wrt_of_nothing) {
  const auto f = [](Tensor x) { return x * x; };
#ifdef ALLOWED
  grad(f, wrt<0>)(1.0);
#else
  grad(f, wrt<>)(1.0);  // here
#endif
}
