// tests/errors/run/median_of_empty.cc -- the element in the middle of none
// expect: quantile: no elements along axes [0] of f64[0]
#include "tests/errors/fails.h"

MISTAKE(median_of_empty) {
#ifdef ALLOWED
  median(ones({1}));
#else
  median(zeros({0}));  // here
#endif
}
