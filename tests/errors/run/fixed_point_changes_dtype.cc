// tests/errors/run/fixed_point_changes_dtype.cc -- an iteration that starts from another dtype
// expect: fixed_point: f takes leaf 0 of x as f32[] and returns it as f64[]
// expect: hint: start from the type that f returns, or convert with astype in f
#include "tests/errors/fails.h"

MISTAKE(fixed_point_changes_dtype) {
  const Tensor a = Tensor(3.0);
  const auto f = [](Tensor x, Tensor t) { return x / 2 + t; };
#ifdef ALLOWED
  fixed_point(f, 0.0)(a);
#else
  fixed_point(f, 0.0f)(a);  // here
#endif
}
