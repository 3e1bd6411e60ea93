// tests/errors/run/transpose_of_a_constant.cc -- transposing a function without its argument
// expect: transpose: output 0 does not depend on the inputs linearly: it is constant
#include "tests/errors/fails.h"

MISTAKE(transpose_of_a_constant) {
  const auto f = [](Tensor) {
#ifdef ALLOWED
    return zeros({3});
#else
    return ones({3});  // here
#endif
  };
  transpose(f, f64[{3}])(ones({3}));
}
