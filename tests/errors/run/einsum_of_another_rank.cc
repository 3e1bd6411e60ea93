// tests/errors/run/einsum_of_another_rank.cc -- subscripts for fewer axes than the operand has
//
// expect: einsum: "ij->ji" names 2 axes of operand 0, which is f64[5, 2, 3]
// expect: hint: one letter for each axis, `...` for axes that broadcast
#include "tests/errors/fails.h"

MISTAKE(einsum_of_another_rank) {
  const Tensor x = ones({5, 2, 3});
#ifdef ALLOWED
  einsum("...ij->...ji", x);
#else
  einsum("ij->ji", x);  // here
#endif
}
