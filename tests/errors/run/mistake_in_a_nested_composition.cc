// tests/errors/run/mistake_in_a_nested_composition.cc -- a loss of what does not fit
// expect: sub: shapes do not broadcast: f64[2] and f64[3]
#include "tests/errors/fails.h"

MISTAKE(mistake_in_a_nested_composition) {
  const Tensor x = ones({2});
#ifdef ALLOWED
  mean_squared_error(x, ones({2}));
#else
  mean_squared_error(x, ones({3}));  // here
#endif
}
