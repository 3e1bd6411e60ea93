// tests/errors/run/sort_by_keys_of_another_shape.cc -- values that have no keys
// expect: sort: what moves along has another shape than the keys: i32[2] and f64[3]
// expect: hint: there is one element for each key; take_along_axis moves other shapes
#include "tests/errors/fails.h"

MISTAKE(sort_by_keys_of_another_shape) {
  const Tensor values = tensor({0.1, 0.2, 0.3});
#ifdef ALLOWED
  sort_by_key(tensor({2, 1, 3}), values);
#else
  sort_by_key(tensor({2, 1}), values);  // here
#endif
}
