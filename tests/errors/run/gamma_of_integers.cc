// tests/errors/run/gamma_of_integers.cc -- a parameter that is no float
// expect: gamma: takes floats, got i32[1]
#include "tests/errors/fails.h"

MISTAKE(gamma_of_integers) {
#ifdef ALLOWED
  gamma(key(1), tensor({2.0}));
#else
  gamma(key(1), tensor({2}));  // here
#endif
}
