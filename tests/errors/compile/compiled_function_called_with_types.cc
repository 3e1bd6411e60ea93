// tests/errors/compile/compiled_function_called_with_types.cc -- types where tensors are needed
// expect: hom: a compiled function is called with tensors
#include "tests/errors/fails.h"

MISTAKE(compiled_function_called_with_types) {
  const auto f = compile([](Tensor x) { return x * 2.0; }, {.tier = Tier::interpreter});
#ifdef ALLOWED
  f.prepare(f64[{3}]);
#else
  f(f64[{3}]);  // here
#endif
}
