// tests/errors/run/transpose_of_affine.cc -- the transpose of an affine function
// expect: transpose: add is not linear here
// expect: so the result is only affine
// expect: hint: transpose takes linear functions; differentiate others with vjp or grad
#include "tests/errors/fails.h"

MISTAKE(transpose_of_affine) {
  const auto f = [](Tensor x) {
#ifdef ALLOWED
    return 2 * x;
#else
    return x + 1;  // here
#endif
  };
  transpose(f, f64[{3}])(ones({3}));
}
