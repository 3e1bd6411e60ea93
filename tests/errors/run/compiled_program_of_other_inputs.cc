// tests/errors/run/compiled_program_of_other_inputs.cc -- a compiled program takes one signature
// expect: compiled program: input `x` is f32[3], not f64[3]
// expect: compile(f) compiles again where types change
#include "tests/errors/fails.h"

MISTAKE(compiled_program_of_other_inputs) {
  const CompiledProgram twice =
      compile([](Tensor x) { return x * 2.0; }, {.tier = Tier::interpreter}).prepare(f64[{3}]);
#ifdef ALLOWED
  twice({ones({3})});
#else
  twice({ones({3}, f32)});  // here
#endif
}
