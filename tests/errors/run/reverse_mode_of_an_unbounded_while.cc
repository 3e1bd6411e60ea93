// tests/errors/run/reverse_mode_of_an_unbounded_while.cc -- nobody limits its iterations
// expect: a while_loop without a bound has no reverse mode
// expect: hint: give a bound: while_loop(condition, body, init, {{.bound = n}})
#include "tests/errors/fails.h"

MISTAKE(reverse_mode_of_an_unbounded_while) {
  const auto goes_on = [](Tensor t) { return t < 10; };
  const auto body = [](Tensor t) { return 2 * t; };
#ifdef ALLOWED
  grad([&](Tensor x) { return while_loop(goes_on, body, x, {.bound = 100}); })(1.0);
  jvp([&](Tensor x) { return while_loop(goes_on, body, x); })(1.0, 1.0);
#else
  grad([&](Tensor x) { return while_loop(goes_on, body, x); })(1.0);  // here
#endif
}
