// tests/errors/run/float_function_of_integers.cc -- the sine of integers
// expect: sin: takes floats, got i64[3]
// expect: hint: convert with astype(f32) or astype(f64)
#include "tests/errors/fails.h"

MISTAKE(float_function_of_integers) {
  const Tensor x = arange(3);
#ifdef ALLOWED
  sin(x.astype(f64));
#else
  sin(x);  // here
#endif
}
