// tests/errors/run/vmap_reads_out_of_range.cc -- a lane that reads outside its table, in a map
// expect: gather: index 7 is out of range on axis 0 of f64[3]
#include "tests/errors/fails.h"

MISTAKE(vmap_reads_out_of_range) {
  const Tensor table = ones({3});
#ifdef ALLOWED
  vmap([&](Tensor i) { return take(table, i); })(tensor({0, 2}));
#else
  const auto f = [&](Tensor i) { return take(table, i); };  // here
  vmap(f)(tensor({0, 7}));
#endif
}
