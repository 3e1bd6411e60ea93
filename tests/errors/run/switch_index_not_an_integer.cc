// tests/errors/run/switch_index_not_an_integer.cc -- a switch whose index is a float
// expect: switch_: the index is f64[], not an integer of rank 0
// expect: hint: convert with astype(i64); cond takes a bool
#include "tests/errors/fails.h"

MISTAKE(switch_index_not_an_integer) {
  const auto same = [](Tensor t) { return t; };
  const auto twice = [](Tensor t) { return 2 * t; };
  const Tensor i = Tensor(1.0);
#ifdef ALLOWED
  switch_(i.astype(i64), std::tuple{same, twice}, 1.0);
#else
  switch_(i, std::tuple{same, twice}, 1.0);  // here
#endif
}
