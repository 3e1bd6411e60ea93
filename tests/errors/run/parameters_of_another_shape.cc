// tests/errors/run/parameters_of_another_shape.cc -- probabilities that do not fit what is drawn
//
// expect: bernoulli: p is f64[3] and does not broadcast to the shape [4] that is drawn
// expect: hint: each element has its own parameter
#include "tests/errors/fails.h"

MISTAKE(parameters_of_another_shape) {
  const Tensor p = full({3}, 0.5);
#ifdef ALLOWED
  bernoulli(key(1), p, {4, 3});
#else
  bernoulli(key(1), p, {4});  // here
#endif
}
