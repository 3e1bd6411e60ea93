// tests/errors/run/custom_linear_of_integers.cc -- a linear function of integers
// expect: custom_linear: the operand `x` is i32[], and only floats vary
// expect: hint: convert with astype, or pass it among the residuals
#include "tests/errors/fails.h"

MISTAKE(custom_linear_of_integers) {
  const auto times = [](Tensor a, Tensor x) { return a * x; };
#ifdef ALLOWED
  custom_linear(times, times)(3, 2.0);
#else
  custom_linear(times, times)(2.0, 3);  // here
#endif
}
