// tests/errors/run/where_on_numbers.cc -- a condition that is not bool
// expect: where: the condition is f64, not bool
// expect: hint: compare first
#include "tests/errors/fails.h"

MISTAKE(where_on_numbers) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  where(x != 0, 1, 2);
#else
  where(x, 1, 2);  // here
#endif
}
