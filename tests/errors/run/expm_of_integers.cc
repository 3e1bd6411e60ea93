// tests/errors/run/expm_of_integers.cc -- a function of matrices of floats
// expect: expm: takes f32 or f64, got i32[2, 2]
// expect: hint: convert with astype
#include "tests/errors/fails.h"

MISTAKE(expm_of_integers) {
  const Tensor a = tensor({{0, 1}, {1, 0}});
#ifdef ALLOWED
  expm(a.astype(f64));
#else
  expm(a);  // here
#endif
}
