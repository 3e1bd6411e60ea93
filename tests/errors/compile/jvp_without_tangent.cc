// tests/errors/compile/jvp_without_tangent.cc -- forward mode without a direction
// expect: hom: jvp(f) takes the arguments of f, then one tangent for each argument of wrt
#include "tests/errors/fails.h"

MISTAKE(jvp_without_tangent) {
  const auto f = [](Tensor x) { return sin(x); };
#ifdef ALLOWED
  jvp(f)(1.0, 1.0);
#else
  jvp(f)(1.0);  // here
#endif
}
