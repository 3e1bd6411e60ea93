// tests/errors/run/vmap_of_other_extents.cc -- a map over arguments with other numbers of lanes
// expect: vmap: the numbers of lanes differ: axis 0 of `x`, f64[3, 2], has extent 3, but axis 0 of
// `y[1]`, f64[4], has extent 4 expect: hint: all mapped leaves have one extent along their axes;
// `unmapped` marks what is the same for all lanes
#include "tests/errors/fails.h"

MISTAKE(vmap_of_other_extents) {
  const auto f = [](Tensor x, std::pair<Tensor, Tensor> y) { return x * y.first + y.second; };
  const Tensor x = ones({3, 2});
#ifdef ALLOWED
  vmap(f, {0, {0, unmapped}})(x, std::pair{ones({3}), ones({2})});
#else
  const auto map = vmap(f);  // here
  map(x, std::pair{ones({3}), ones({4})});
#endif
}
