// tests/errors/run/arrows_on_mismatched_shapes.cc -- an operation of `hom::arrows` on concrete
// tensors that do not fit
// expect: mul
// expect: f64[3]
// expect: f64[2]
#include "tests/errors/fails.h"

MISTAKE(arrows_on_mismatched_shapes) {
  const auto square = arrows::dup >> arrows::mul;
  square(ones({3}));
  const Tensor x = ones({3});
#ifdef ALLOWED
  const Tensor y = ones({3});
#else
  const Tensor y = ones({2});  // here
#endif
  arrows::mul(x, y);
}
