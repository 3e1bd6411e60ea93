// tests/errors/run/negative_index_in_gather.cc -- a computed index from the end
// expect: gather: index -1 is out of range on axis 0
#include "tests/errors/fails.h"

MISTAKE(negative_index_in_gather) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  x[-1];
#else
  take(x, tensor({-1}));  // here
#endif
}
