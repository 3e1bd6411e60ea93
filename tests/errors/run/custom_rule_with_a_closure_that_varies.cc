// tests/errors/run/custom_rule_with_a_closure_that_varies.cc -- a derivative in the closure
// expect: custom_jvp: the function holds a tensor f64[] in its closure that is differentiated
// expect: hint: the rule covers arguments only: pass the tensor as one of them
#include "tests/errors/fails.h"

MISTAKE(custom_rule_with_a_closure_that_varies) {
  const auto rule = [](Tensor, Tensor a, Tensor, Tensor dx, Tensor da) { return dx * a + da; };
#ifdef ALLOWED
  grad([&](Tensor a) {
    return custom_jvp([](Tensor x, Tensor b) { return x * b; }, rule)(2.0, a);
  })(1.0);
#else
  grad([](Tensor a) {
    const auto in_x = [&](Tensor, Tensor, Tensor dx) { return dx * a; };
    return custom_jvp([&](Tensor x) { return x * a; }, in_x)(2.0);  // here
  })(1.0);
  static_cast<void>(rule);
#endif
}
