// tests/errors/run/factorization_of_integers.cc -- integers where a factorization takes floats
// expect: cholesky: takes f32, f64, got i32[2, 2]
// expect: hint: convert with astype
#include "tests/errors/fails.h"

MISTAKE(factorization_of_integers) {
  const Tensor a = tensor({{4, 2}, {2, 3}});
#ifdef ALLOWED
  cholesky(a.astype(f64));
#else
  cholesky(a);  // here
#endif
}
