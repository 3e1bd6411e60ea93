// tests/errors/run/top_k_of_too_few.cc -- more of the largest elements than there are elements
// expect: top_k: 4 of the 3 elements along axis 1 of f64[2, 3]
#include "tests/errors/fails.h"

MISTAKE(top_k_of_too_few) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  top_k(x, 3);
#else
  top_k(x, 4);  // here
#endif
}
