// tests/errors/run/special_function_of_integers.cc -- the logarithm of a factorial, of integers
// expect: lgamma: takes floats, got i64[3]
// expect: hint: convert with astype(f32) or astype(f64)
#include "tests/errors/fails.h"

MISTAKE(special_function_of_integers) {
#ifdef ALLOWED
  lgamma(arange(3).astype(f64));
#else
  lgamma(arange(3));  // here
#endif
}
