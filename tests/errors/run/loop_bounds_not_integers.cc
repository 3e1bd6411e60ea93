// tests/errors/run/loop_bounds_not_integers.cc -- a loop that counts to a float
// expect: fori_loop: the bounds are i32[] and f64[], not integers of rank 0
// expect: hint: convert with astype(i64), or take one element
#include "tests/errors/fails.h"

MISTAKE(loop_bounds_not_integers) {
  const auto body = [](Tensor, Tensor t) { return 2 * t; };
  const Tensor n = Tensor(3.0);
#ifdef ALLOWED
  fori_loop(Tensor(0), n.astype(i64), body, 1.0);
#else
  fori_loop(Tensor(0), n, body, 1.0);  // here
#endif
}
