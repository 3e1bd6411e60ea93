// tests/errors/compile/max_of_two_tensors.cc -- max reduces; the larger of two is maximum
// expect: hom:
// expect: maximum
#include "tests/errors/fails.h"

MISTAKE(max_of_two_tensors) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  maximum(x, x);
  max(x, 0);
#else
  max(x, x);  // here
#endif
}
