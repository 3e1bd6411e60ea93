// tests/errors/compile/assignment_to_elements_of_a_constant.cc -- only variables are assigned
// expect: hom: x.at(i) = v gives the variable x a new tensor
// expect: x.at(i).set(v)
#include "tests/errors/fails.h"

MISTAKE(assignment_to_elements_of_a_constant) {
#ifdef ALLOWED
  Tensor x = ones({3});
  x.at(0) = 2.0;
#else
  const Tensor x = ones({3});
  x.at(0) = 2.0;  // here
#endif
}
