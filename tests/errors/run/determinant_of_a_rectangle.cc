// tests/errors/run/determinant_of_a_rectangle.cc -- a matrix that is not square
// expect: determinant: takes square matrices, got f64[2, 3]
#include "tests/errors/fails.h"

MISTAKE(determinant_of_a_rectangle) {
  const Tensor a = ones({2, 3});
#ifdef ALLOWED
  determinant(matmul(a, a.T()));
#else
  determinant(a);  // here
#endif
}
