// tests/errors/run/compiled_gather_out_of_range.cc -- an index beyond the end, compiled
//
// expect: gather: index 7 is out of range on axis 0 of f64[3]
// expect: in `look_up`
#include "tests/errors/fails.h"

MISTAKE(compiled_gather_out_of_range) {
  const auto look_up = compile(
      [](Tensor x, Tensor i) {
        return take(x, i) * 2.0;  // here
      },
      {.name = "look_up", .tier = Tier::interpreter});
#ifdef ALLOWED
  look_up(ones({3}), tensor({0, 2}));
#else
  look_up(ones({3}), tensor({0, 7}));
#endif
}
