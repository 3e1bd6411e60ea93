// tests/errors/run/negative_number_meets_unsigned.cc -- −1 where all numbers are positive
// expect: the number -1 does not fit u32
#include "tests/errors/fails.h"

MISTAKE(negative_number_meets_unsigned) {
  const Tensor x = zeros({3}, u32);
#ifdef ALLOWED
  maximum(x, 1);
#else
  maximum(x, -1);  // here
#endif
}
