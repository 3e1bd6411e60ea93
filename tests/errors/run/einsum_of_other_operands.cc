// tests/errors/run/einsum_of_other_operands.cc -- more subscripts than operands
//
// expect: einsum: "ij,jk->ik" has subscripts for 2 operands, got 1
// expect: hint: commas separate the subscripts of operands
#include "tests/errors/fails.h"

MISTAKE(einsum_of_other_operands) {
  const Tensor x = ones({3, 3});
#ifdef ALLOWED
  einsum("ij,jk->ik", x, x);
#else
  einsum("ij,jk->ik", x);  // here
#endif
}
