// tests/errors/run/sort_of_a_scalar.cc -- a sort along an axis that a number does not have
// expect: sort: axis -1 of a tensor of rank 0
#include "tests/errors/fails.h"

MISTAKE(sort_of_a_scalar) {
#ifdef ALLOWED
  sort(tensor({2.0, 1.0}));
#else
  sort(Tensor(2.0));  // here
#endif
}
