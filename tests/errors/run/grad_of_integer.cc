// tests/errors/run/grad_of_integer.cc -- the gradient in an integer
// expect: grad: no float to differentiate in: argument: i32[]
// expect: hint: convert with astype(f32) or astype(f64), or name other arguments with wrt
#include "tests/errors/fails.h"

MISTAKE(grad_of_integer) {
  const auto f = [](Tensor x) { return x * 1.0; };
#ifdef ALLOWED
  grad(f)(3.0);
#else
  grad(f)(3);  // here
#endif
}
