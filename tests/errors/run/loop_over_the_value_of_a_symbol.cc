// tests/errors/run/loop_over_the_value_of_a_symbol.cc -- a loop up to a symbol
// expect: the value of a symbolic tensor i32[]
// expect: hint: use where(condition, a, b) or cond(
#include "tests/errors/fails.h"

MISTAKE(loop_over_the_value_of_a_symbol) {
  const auto power = [](Tensor x, auto n) {
    Tensor y = 1.0;
#ifdef ALLOWED
    const int count = n;
#else
    const int count = n.template item<int>();  // here
#endif
    for (int i = 0; i < count; ++i) y *= x;
    return y;
  };
#ifdef ALLOWED
  grad([&](Tensor x) { return power(x, 3); })(2.0);
#else
  grad(power)(2.0, 3);
#endif
}
