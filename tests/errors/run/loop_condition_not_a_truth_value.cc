// tests/errors/run/loop_condition_not_a_truth_value.cc -- several truth values at once
// expect: while_loop: the condition gives bool[2], not bool[]
// expect: hint: all_of(…) and any_of(…) make one truth value of many
#include "tests/errors/fails.h"

MISTAKE(loop_condition_not_a_truth_value) {
  const auto body = [](Tensor x) { return 2 * x; };
#ifdef ALLOWED
  while_loop([](Tensor x) { return any_of(x < 10); }, body, ones({2}));
#else
  while_loop([](Tensor x) { return x < 10; }, body, ones({2}));  // here
#endif
}
