// tests/errors/run/vmap_of_a_scalar.cc -- a map over an argument that has no axes
// expect: vmap: `y` is f64[], and has no axis of lanes
// expect: hint: `unmapped` in place of its axis makes it the same for all lanes
#include "tests/errors/fails.h"

MISTAKE(vmap_of_a_scalar) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
  const Tensor x = ones({3});
#ifdef ALLOWED
  vmap(f, {0, unmapped})(x, 2.0);
#else
  vmap(f)(x, 2.0);  // here
#endif
}
