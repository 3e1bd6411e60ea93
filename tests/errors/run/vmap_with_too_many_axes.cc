// tests/errors/run/vmap_with_too_many_axes.cc -- a map with more in-axes than arguments
// expect: vmap: 3 in-axes for 2 arguments
// expect: hint: one axis for all arguments, or a list with an entry for each
#include "tests/errors/fails.h"

MISTAKE(vmap_with_too_many_axes) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
  const Tensor x = ones({3});
#ifdef ALLOWED
  vmap(f, {0, 0})(x, x);
#else
  vmap(f, {0, 0, 0})(x, x);  // here
#endif
}
