// tests/errors/run/bitcast_to_another_size.cc -- bits of 8 bytes read as elements of 4
// expect: bitcast: f64[3] to f32: the sizes of elements differ
// expect: convert keeps the value
#include "tests/errors/fails.h"

MISTAKE(bitcast_to_another_size) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  bitcast(x, i64);
  convert(x, f32);
#else
  bitcast(x, f32);  // here
#endif
}
