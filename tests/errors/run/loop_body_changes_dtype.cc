// tests/errors/run/loop_body_changes_dtype.cc -- a body that turns its integer into a float
// expect: while_loop: the body takes `carry` as i32[] and returns f64[]
// expect: hint: a carry keeps its dtype and shape: start from one of the type that the body returns
#include "tests/errors/fails.h"

MISTAKE(loop_body_changes_dtype) {
  const auto goes_on = [](Tensor t) { return t < 10; };
  const auto body = [](Tensor t) { return t + 0.5; };
#ifdef ALLOWED
  while_loop(goes_on, body, 1.0);
#else
  while_loop(goes_on, body, 1);  // here
#endif
}
