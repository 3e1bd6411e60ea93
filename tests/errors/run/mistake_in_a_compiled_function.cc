// tests/errors/run/mistake_in_a_compiled_function.cc -- shapes that do not fit, found when a
// function is compiled expect: matmul: inner extents differ: lhs f64[2, 3] · rhs f64[4, 5] (3 ≠ 4)
// expect: in `forward`
#include "tests/errors/fails.h"

MISTAKE(mistake_in_a_compiled_function) {
  const auto forward = compile(
      [](Tensor x, Tensor w) {
        return matmul(x, w);  // here
      },
      {.name = "forward", .tier = Tier::interpreter});
#ifdef ALLOWED
  forward(ones({2, 3}), ones({3, 5}));
#else
  forward(ones({2, 3}), ones({4, 5}));
#endif
}
