// tests/errors/run/vmap_gather_out_of_range.cc -- a lane that reads outside its own table, in a map
// expect: gather: index 9 is out of range on axis 1 of f64[3, 4]
// expect: vmap puts lanes in front
#include "tests/errors/fails.h"

MISTAKE(vmap_gather_out_of_range) {
  const Tensor tables = ones({3, 4});
  const Tensor positions = tensor({{0, 1}, {2, 3}, {2, 9}});
#ifdef ALLOWED
  vmap([](Tensor x, Tensor i) { return take(x, i, 0, Bounds::clip); })(tables, positions);
#else
  const auto f = [](Tensor x, Tensor i) { return take(x, i); };  // here
  vmap(f)(tables, positions);
#endif
}
