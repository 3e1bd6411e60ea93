// tests/errors/run/negative_integer_power.cc -- an integer to a negative power
// expect: pow:
// expect: negative
#include "tests/errors/fails.h"

MISTAKE(negative_integer_power) {
  const Tensor x = tensor({2, 3});
#ifdef ALLOWED
  pow(x, 2);
  pow(x.astype(f64), -1);
#else
  pow(x, -1);  // here
#endif
}
