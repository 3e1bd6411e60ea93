// tests/errors/run/sum_of_truth_values_in_place.cc -- arithmetic on truth values
// expect: add: bool elements are set only, as in bool[3]
#include "tests/errors/fails.h"

MISTAKE(sum_of_truth_values_in_place) {
  const Tensor x = ones({3}, bool_);
#ifdef ALLOWED
  x.at(0).set(false);
#else
  x.at(0).add(true);  // here
#endif
}
