// tests/errors/run/solve_with_other_rows.cc -- a right side that does not have the rows of the
// matrix expect: solve: the right side f64[2, 3] does not have the rows of the matrix f64[3, 3]
// expect: hint: it is a vector [n], or columns […, n, m]; expand_dims(b, -1) makes a batch of
// vectors
#include "tests/errors/fails.h"

MISTAKE(solve_with_other_rows) {
  const Tensor a = eye(3);
  const Tensor b = ones({2, 3});  // two vectors, as rows
#ifdef ALLOWED
  solve(a, expand_dims(b, -1));
#else
  solve(a, b);  // here
#endif
}
