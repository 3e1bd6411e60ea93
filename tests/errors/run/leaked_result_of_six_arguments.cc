// tests/errors/run/leaked_result_of_six_arguments.cc -- a function of many arguments returns a
// symbol of an earlier capture
//
// expect: is used after its capture has ended
#include "tests/errors/fails.h"

MISTAKE(leaked_result_of_six_arguments) {
  const Tensor x = 1.0;
  Tensor kept = x;
#ifndef ALLOWED
  syntax([&](Tensor y) { return kept = exp(y); }, x);
#endif
  const auto f = [&](Tensor, Tensor, Tensor, Tensor, Tensor, Tensor) { return kept; };
  syntax(f, x, x, x, x, x, x);  // here
}
