// tests/errors/run/searchsorted_in_a_matrix.cc -- a search in more than one dimension
// expect: searchsorted: searches an ascending vector, got f64[2, 2]
// expect: hint: vmap searches in many at once
#include "tests/errors/fails.h"

MISTAKE(searchsorted_in_a_matrix) {
  const Tensor x = ones({2, 2});
#ifdef ALLOWED
  searchsorted(x(0), 0.5);
#else
  searchsorted(x, 0.5);  // here
#endif
}
