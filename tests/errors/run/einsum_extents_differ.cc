// tests/errors/run/einsum_extents_differ.cc -- one subscript for axes of different extents
//
// expect: einsum: "ij,jk->ik": `j` is 3 in operand 0, f64[2, 3], and 4 in operand 1, f64[4, 5]
// expect: hint: axes with one letter have one extent; only those of `...` broadcast
#include "tests/errors/fails.h"

MISTAKE(einsum_extents_differ) {
  const Tensor x = ones({2, 3});
#ifdef ALLOWED
  einsum("ij,jk->ik", x, ones({3, 5}));
#else
  einsum("ij,jk->ik", x, ones({4, 5}));  // here
#endif
}
