// tests/errors/compile/assignment_to_an_element.cc -- tensors are immutable
// expect: hom:
// expect: x.at(0) = value
#include "tests/errors/fails.h"

MISTAKE(assignment_to_an_element) {
  Tensor x = ones({3});
#ifdef ALLOWED
  x.at(0) = 2.0;
#else
  x(0) = 2.0;  // here
#endif
}
