// tests/errors/run/transpose_of_a_square.cc -- the transpose of a function that is quadratic
// expect: transpose: mul is not linear here: both factors depend on the input
#include "tests/errors/fails.h"

MISTAKE(transpose_of_a_square) {
  const auto f = [](Tensor x) {
#ifdef ALLOWED
    return x + x;
#else
    return x * x;  // here
#endif
  };
  transpose(f, f64[{3}])(ones({3}));
}
