// tests/errors/run/einsum_diagonal_in_the_result.cc -- a subscript twice in the result
//
// expect: einsum: "i->ii": the result names `i` twice
// expect: hint: multiply by eye(n) to put a diagonal into a matrix
#include "tests/errors/fails.h"

MISTAKE(einsum_diagonal_in_the_result) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  einsum("i,ij->ij", x, eye(3));
#else
  einsum("i->ii", x);  // here
#endif
}
