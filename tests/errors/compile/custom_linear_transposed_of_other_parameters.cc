// tests/errors/compile/custom_linear_transposed_of_other_parameters.cc -- it takes no residuals
// expect: hom: the transposed function of custom_linear takes the residuals and the cotangent of
#include "tests/errors/fails.h"

MISTAKE(custom_linear_transposed_of_other_parameters) {
  const auto times = [](Tensor a, Tensor x) { return a * x; };
#ifdef ALLOWED
  custom_linear(times, times)(2.0, 1.0);
#else
  custom_linear(times, [](Tensor ct) { return ct; })(2.0, 1.0);  // here
#endif
}
