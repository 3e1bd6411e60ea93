// tests/errors/run/too_few_inputs.cc -- a program evaluated with an input missing
// expect: evaluate: the program takes 2 inputs, got 1
#include "tests/errors/fails.h"

MISTAKE(too_few_inputs) {
  const Program p = program([](Tensor x, Tensor y) { return x + y; }, f64[{3}], f64[{3}]);
#ifdef ALLOWED
  evaluate(p, {ones({3}), ones({3})});
#else
  evaluate(p, {ones({3})});  // here
#endif
}
