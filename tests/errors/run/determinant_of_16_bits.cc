// tests/errors/run/determinant_of_16_bits.cc -- a dtype that factorizations do not take
// expect: determinant: takes f32, f64, got bf16[2, 2]
// expect: hint: convert with astype
#include "tests/errors/fails.h"

MISTAKE(determinant_of_16_bits) {
  const Tensor a = ones({2, 2}, bf16);
#ifdef ALLOWED
  determinant(a.astype(f32)).astype(bf16);
#else
  determinant(a);  // here
#endif
}
