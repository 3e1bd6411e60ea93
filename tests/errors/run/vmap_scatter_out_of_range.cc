// tests/errors/run/vmap_scatter_out_of_range.cc -- a lane that writes outside its tensor, in a map
// expect: scatter: index 9 is out of range on axis 1 of f64[3, 4]
// expect: vmap puts lanes in front
#include "tests/errors/fails.h"

MISTAKE(vmap_scatter_out_of_range) {
  const Tensor x = ones({3, 4});
  const Tensor positions = tensor({{0, 1}, {2, 3}, {2, 9}});
#ifdef ALLOWED
  vmap([](Tensor t, Tensor i) { return t.at(i).set(0.0); })(x, positions);
#else
  const auto f = [](Tensor t, Tensor i) { return t.at(i).set(0.0, Bounds::check); };  // here
  vmap(f)(x, positions);
#endif
}
