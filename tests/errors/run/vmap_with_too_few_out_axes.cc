// tests/errors/run/vmap_with_too_few_out_axes.cc -- a map with fewer out-axes than results
// expect: vmap: 1 out-axis for a function with 2 results
// expect: hint: one axis for all results, or one for each leaf of the result
#include "tests/errors/fails.h"

MISTAKE(vmap_with_too_few_out_axes) {
  const auto f = [](Tensor x) { return std::pair{sin(x), cos(x)}; };
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  vmap(f, 0, {1, 0})(x);
#else
  vmap(f, 0, {1})(x);  // here
#endif
}
