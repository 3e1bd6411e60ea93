// tests/errors/run/vmap_with_too_few_leaves.cc -- a map with fewer axes than leaves of a product
// expect: vmap: 2 in-axes for 3 leaves of `x`
// expect: hint: one axis for all of them, or one for each: x[0], x[1], x[2]
#include "tests/errors/fails.h"

MISTAKE(vmap_with_too_few_leaves) {
  const auto f = [](std::vector<Tensor> x) { return x[0] + x[1] * x[2]; };
  const std::vector<Tensor> x{ones({3}), ones({3}), ones({3})};
#ifdef ALLOWED
  vmap(f, {{0, unmapped, unmapped}})(x);
#else
  vmap(f, {{0, unmapped}})(x);  // here
#endif
}
