// tests/errors/run/broadcast_to_smaller.cc -- broadcasting cannot take elements away
// expect: broadcast_to: f64[2, 3] does not broadcast to [3]
#include "tests/errors/fails.h"

MISTAKE(broadcast_to_smaller) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  broadcast_to(x, {4, 2, 3});
#else
  broadcast_to(x, {3});  // here
#endif
}
