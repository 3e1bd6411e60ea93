// tests/errors/compile/function_valued_output.cc -- a function that returns a function
// expect: hom: programs are first-order
// expect: not a function or another type
#include "tests/errors/fails.h"

MISTAKE(function_valued_output) {
  const auto f = [](Tensor x) { return [x](Tensor y) { return x * y; }; };
#ifdef ALLOWED
  program(uncurry(f), f64[{}], f64[{}]);
#else
  program(f, f64[{}]);  // here
#endif
}
