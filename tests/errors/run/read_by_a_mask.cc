// tests/errors/run/read_by_a_mask.cc -- a read whose number of elements depends on values
// expect: index: how many elements of a mask are true is not known
// expect: where(mask, x, 0)
#include "tests/errors/fails.h"

MISTAKE(read_by_a_mask) {
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  where(x > 0, x, 0);
#else
  x(x > 0);  // here
#endif
}
