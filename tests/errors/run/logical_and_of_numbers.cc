// tests/errors/run/logical_and_of_numbers.cc -- `&&` of numbers
// expect: takes bool operands, got i64 and i64
// expect: hint: compare first
#include "tests/errors/fails.h"

MISTAKE(logical_and_of_numbers) {
  const Tensor x = arange(3);
#ifdef ALLOWED
  where(x != 0 && x > 1, 1, 2);
#else
  where(x && x, 1, 2);  // here
#endif
}
