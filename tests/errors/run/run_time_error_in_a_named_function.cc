// tests/errors/run/run_time_error_in_a_named_function.cc -- one that shows when run
// expect: gather:
// expect: , in `lookup`
#include "tests/errors/fails.h"

MISTAKE(run_time_error_in_a_named_function) {
  const auto lookup = named("lookup", [](Tensor table, Tensor i) {
    return take(table, i);  // here
  });
  const Program p = program(lookup, f64[{3}], i32[{1}]);
#ifdef ALLOWED
  evaluate(p, {ones({3}), tensor({2})});
#else
  evaluate(p, {ones({3}), tensor({5})});
#endif
}
