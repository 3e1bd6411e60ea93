// tests/errors/compile/returns_void.cc -- a function that forgets to return
// expect: hom: a captured function returns its results; this one returns void
#include "tests/errors/fails.h"

MISTAKE(returns_void) {
#ifdef ALLOWED
  program([](Tensor x) { return sin(x); }, f64[{}]);
#else
  program([](Tensor x) { sin(x); }, f64[{}]);  // here
#endif
}
