// tests/errors/compile/assignment_to_an_element.cc -- tensors are immutable
// expect: hom:
// expect: update_slice
#include "tests/errors/fails.h"

MISTAKE(assignment_to_an_element) {
  Tensor x = ones({3});
#ifdef ALLOWED
  x = update_slice(x, tensor({2.0}), {0}, {1});
#else
  x(0) = 2.0;  // here
#endif
}
