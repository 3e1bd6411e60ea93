// tests/errors/run/axis_outside_the_rank.cc -- an axis that the tensor does not have
// expect: sum: axis 2 of a tensor of rank 2
// expect: hint: axes go from 0 to rank − 1, or from −rank to −1
#include "tests/errors/fails.h"

MISTAKE(axis_outside_the_rank) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  sum(x, 1);
  sum(x, -2);
#else
  sum(x, 2);  // here
#endif
}
