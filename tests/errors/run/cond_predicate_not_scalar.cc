// tests/errors/run/cond_predicate_not_scalar.cc -- a predicate with several elements
// expect: cond: the predicate is bool[3], not bool[]
// expect: hint: where(condition, a, b) chooses element by element
#include "tests/errors/fails.h"

MISTAKE(cond_predicate_not_scalar) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  cond(all_of(x > 0), arrows::sin, arrows::cos, x);
  where(x > 0, sin(x), cos(x));
#else
  cond(x > 0, arrows::sin, arrows::cos, x);  // here
#endif
}
