// tests/errors/run/input_of_another_type.cc -- a program evaluated at types not its own
// expect: evaluate: input `y` is f64[4], not f64[3]
#include "tests/errors/fails.h"

MISTAKE(input_of_another_type) {
  const Program p = program([](Tensor x, Tensor y) { return x + y; }, f64[{3}], f64[{3}]);
#ifdef ALLOWED
  evaluate(p, {ones({3}), ones({3})});
#else
  evaluate(p, {ones({3}), ones({4})});  // here
#endif
}
