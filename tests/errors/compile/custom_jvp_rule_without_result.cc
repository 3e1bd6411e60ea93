// tests/errors/compile/custom_jvp_rule_without_result.cc -- a rule that does not take the result
// expect: hom: the rule of custom_jvp takes the arguments of the function, its result, and one
#include "tests/errors/fails.h"

MISTAKE(custom_jvp_rule_without_result) {
  const auto f = [](Tensor x) { return x * x; };
#ifdef ALLOWED
  custom_jvp(f, [](Tensor x, Tensor, Tensor dx) { return 2 * x * dx; })(1.0);
#else
  custom_jvp(f, [](Tensor x, Tensor dx) { return 2 * x * dx; })(1.0);  // here
#endif
}
