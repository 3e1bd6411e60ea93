// tests/errors/run/arithmetic_on_truth_values.cc -- a sum of truth values
// expect: sum: takes numbers, got bool[3]
// expect: hint: convert with astype
#include "tests/errors/fails.h"

MISTAKE(arithmetic_on_truth_values) {
  const Tensor x = ones({3}) > 0;
#ifdef ALLOWED
  sum(x.astype(i32));
#else
  sum(x);  // here
#endif
}
