// tests/errors/run/negative_loop_bound.cc -- a loop that may run a negative number of times
// expect: while_loop: a bound of -5 iterations
// expect: hint: a bound is the most iterations that there may be
#include "tests/errors/fails.h"

MISTAKE(negative_loop_bound) {
  const auto goes_on = [](Tensor t) { return t < 10; };
  const auto body = [](Tensor t) { return 2 * t; };
#ifdef ALLOWED
  while_loop(goes_on, body, 1.0, {.bound = 5});
  while_loop(goes_on, body, 1.0);
#else
  while_loop(goes_on, body, 1.0, {.bound = -5});  // here
#endif
}
