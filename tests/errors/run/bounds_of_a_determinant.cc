// tests/errors/run/bounds_of_a_determinant.cc -- intervals have no rule for factorizations
// expect: intervals: no arrow for determinant: elimination and rotations of bounds give bounds too
#include "tests/errors/fails.h"

MISTAKE(bounds_of_a_determinant) {
  const IntervalTensor a(zeros({2, 2}), ones({2, 2}));
#ifdef ALLOWED
  interval([](Tensor x) { return x(0, 0) * x(1, 1) - x(0, 1) * x(1, 0); })(a);
#else
  interval([](Tensor x) { return determinant(x); })(a);  // here
#endif
}
