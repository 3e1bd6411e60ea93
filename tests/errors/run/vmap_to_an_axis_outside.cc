// tests/errors/run/vmap_to_an_axis_outside.cc -- results of a map along an axis that they do not
// have
//
// expect: vmap: out-axis 2 of a result that is f64[2] in each lane
// expect: hint: with the lanes it has rank 2; axes go from 0 to rank − 1, or from −rank to −1
#include "tests/errors/fails.h"

MISTAKE(vmap_to_an_axis_outside) {
  const auto f = [](Tensor x) { return sin(x); };
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  vmap(f, 0, 1)(x);
#else
  vmap(f, 0, 2)(x);  // here
#endif
}
