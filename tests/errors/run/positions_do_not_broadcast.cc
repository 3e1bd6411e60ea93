// tests/errors/run/positions_do_not_broadcast.cc -- tensors of positions of other lengths
// expect: index: shapes do not broadcast: i32[2] and i32[3]
#include "tests/errors/fails.h"

MISTAKE(positions_do_not_broadcast) {
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  x(tensor({0, 1}), tensor({0, 1}));
#else
  x(tensor({0, 1}), tensor({0, 1, 1}));  // here
#endif
}
