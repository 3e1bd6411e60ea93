// tests/errors/run/solve_with_other_batches.cc -- batch axes that do not broadcast
// expect: triangular_solve: the batches of the matrix f64[2, 3, 3] and of the right side
// expect: f64[5, 3, 4] do not broadcast
#include "tests/errors/fails.h"

MISTAKE(solve_with_other_batches) {
  const Tensor a = broadcast_to(eye(3), {2, 3, 3});
#ifdef ALLOWED
  triangular_solve(a, ones({5, 1, 3, 4}));
#else
  triangular_solve(a, ones({5, 3, 4}));  // here
#endif
}
