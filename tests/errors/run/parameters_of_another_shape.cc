// tests/errors/run/parameters_of_another_shape.cc -- probabilities that do not broadcast to what is
// drawn expect: broadcast_to
#include "tests/errors/fails.h"

MISTAKE(parameters_of_another_shape) {
  const Tensor p = full({3}, 0.5);
#ifdef ALLOWED
  bernoulli(key(1), p, {4, 3});
#else
  bernoulli(key(1), p, {4});  // here
#endif
}
