// tests/errors/compile/wrt_beyond_arguments.cc -- a derivative in an argument that is not there
// expect: hom: wrt names an argument that the function does not have
#include "tests/errors/fails.h"

MISTAKE(wrt_beyond_arguments) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
#ifdef ALLOWED
  grad(f, wrt<1>)(1.0, 2.0);
#else
  grad(f, wrt<2>)(1.0, 2.0);  // here
#endif
}
