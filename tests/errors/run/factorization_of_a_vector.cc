// tests/errors/run/factorization_of_a_vector.cc -- a matrix wanted, a vector given
// expect: qr: takes a matrix, or a batch of them, got f64[3]
// expect: hint: the matrix is the last two axes; expand_dims adds one
#include "tests/errors/fails.h"

MISTAKE(factorization_of_a_vector) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  qr(expand_dims(x, -1));
#else
  qr(x);  // here
#endif
}
