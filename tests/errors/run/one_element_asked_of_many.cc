// tests/errors/run/one_element_asked_of_many.cc -- the value of a tensor that has several
// expect: item: f64[3] has 3 elements, not one
// expect: hint: use to_vector(), or index a single element first
#include "tests/errors/fails.h"

MISTAKE(one_element_asked_of_many) {
  const Tensor x = ones({3});
#ifdef ALLOWED
  static_cast<void>(x[0].item());
  static_cast<void>(x.to_vector());
#else
  static_cast<void>(x.item());  // here
#endif
}
