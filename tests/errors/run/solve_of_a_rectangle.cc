// tests/errors/run/solve_of_a_rectangle.cc -- more equations than unknowns
// expect: solve: takes square matrices […, n, n], got f64[4, 2] with the right side f64[4]
// expect: hint: lstsq takes matrices of other shapes
#include "tests/errors/fails.h"

MISTAKE(solve_of_a_rectangle) {
  const Tensor a = ones({4, 2});
#ifdef ALLOWED
  lstsq(a, ones({4}));
#else
  solve(a, ones({4}));  // here
#endif
}
