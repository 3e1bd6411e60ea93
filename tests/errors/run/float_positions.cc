// tests/errors/run/float_positions.cc -- floats as positions
// expect: index: positions f64[2] are not integers
// expect: astype(i64)
#include "tests/errors/fails.h"

MISTAKE(float_positions) {
  const Tensor x = ones({3, 2});
  const Tensor positions = tensor({0.0, 1.0});
#ifdef ALLOWED
  x.at(positions.astype(i64)).add(1.0);
  x(positions.astype(i64));
#else
  x.at(positions).add(1.0);  // here
#endif
}
