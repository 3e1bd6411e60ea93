// tests/errors/run/vmap_of_nothing.cc -- a map in which no argument has lanes
// expect: vmap: no argument is mapped, so that there are no lanes
// expect: hint: give an axis to at least one leaf, or call the function itself
#include "tests/errors/fails.h"

MISTAKE(vmap_of_nothing) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
  const Tensor x = ones({3});
#ifdef ALLOWED
  vmap(f, {0, unmapped})(x, x);
#else
  vmap(f, {unmapped, unmapped})(x, x);  // here
#endif
}
