// tests/errors/run/cross_entropy_label_out_of_range.cc -- a label that is none of the classes
// expect: index 3 is out of range on axis 1 of f64[2, 3]
#include "tests/errors/fails.h"

MISTAKE(cross_entropy_label_out_of_range) {
  const Tensor logits = ones({2, 3});
#ifdef ALLOWED
  cross_entropy(logits, tensor({0, 2}));
#else
  cross_entropy(logits, tensor({0, 3}));  // here
#endif
}
