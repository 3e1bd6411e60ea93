// tests/errors/run/lstsq_with_other_rows.cc -- as many right sides as unknowns instead of equations
// expect: lstsq: the right side f64[2] does not have the rows of the matrix f64[4, 2]
// expect: hint: it is a vector [m], or columns […, m, k]
#include "tests/errors/fails.h"

MISTAKE(lstsq_with_other_rows) {
  const Tensor a = ones({4, 2});
#ifdef ALLOWED
  lstsq(a, ones({4}));
#else
  lstsq(a, ones({2}));  // here
#endif
}
