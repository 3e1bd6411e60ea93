// tests/errors/run/sparsity_of_integers.cc -- the pattern of a function that returns positions
// expect: sparsity: the function returns i64[], and only floats have derivatives
#include "tests/errors/fails.h"

MISTAKE(sparsity_of_integers) {
#ifdef ALLOWED
  sparsity([](Tensor t) { return max(t); })(f64[{3}]);
#else
  sparsity([](Tensor t) { return argmax(t, 0); })(f64[{3}]);  // here
#endif
}
