// tests/errors/run/cond_branches_differ.cc -- branches that return different shapes
// expect: cond: the branches differ in type: then (f64[]), otherwise (f64[2])
// expect: hint: both branches return the same structure, dtypes and shapes
#include "tests/errors/fails.h"

MISTAKE(cond_branches_differ) {
  const auto one = [](Tensor t) { return t; };
  const auto two = [](Tensor t) { return t * ones({2}); };
#ifdef ALLOWED
  program([&](Tensor x) { return cond(x > 0, two, two, x); }, f64[{}]);
  static_cast<void>(one);
#else
  program([&](Tensor x) { return cond(x > 0, one, two, x); }, f64[{}]);  // here
#endif
}
