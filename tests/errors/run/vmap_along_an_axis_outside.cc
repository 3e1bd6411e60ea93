// tests/errors/run/vmap_along_an_axis_outside.cc -- a map along an axis that the argument does not
// have
//
// expect: vmap: axis 2 of `x`, which is f64[3, 2]
// expect: hint: axes go from 0 to rank − 1, or from −rank to −1
#include "tests/errors/fails.h"

MISTAKE(vmap_along_an_axis_outside) {
  const auto f = [](Tensor x) { return sum(x); };
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  vmap(f, 1)(x);
  vmap(f, -2)(x);
#else
  vmap(f, 2)(x);  // here
#endif
}
