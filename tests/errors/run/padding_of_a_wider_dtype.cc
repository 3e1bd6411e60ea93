// tests/errors/run/padding_of_a_wider_dtype.cc -- a padding tensor that would lose digits
// expect: pad: a value of dtype f64 does not fit a tensor of f32
// expect: hint: convert one of them with astype
#include "tests/errors/fails.h"

MISTAKE(padding_of_a_wider_dtype) {
  const Tensor x = zeros({3}, f32);
  const Tensor value = Tensor(0.1);
#ifdef ALLOWED
  pad(x, value.astype(f32), {1}, {1});
#else
  pad(x, value, {1}, {1});  // here
#endif
}
