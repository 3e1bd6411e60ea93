// tests/errors/run/shift_of_floats.cc -- bits of floats
// expect: shift_left: takes integers, got f64[3]
#include "tests/errors/fails.h"

MISTAKE(shift_of_floats) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  x.astype(i32) << 1;
#else
  x << 1;  // here
#endif
}
