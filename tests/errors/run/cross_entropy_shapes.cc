// tests/errors/run/cross_entropy_shapes.cc -- labels of another batch
// expect: cross_entropy: logits f64[2, 3] and labels i64[3] do not fit
// expect: hint: logits are [..., classes]; labels are integers [...]
#include "tests/errors/fails.h"

MISTAKE(cross_entropy_shapes) {
  const Tensor logits = ones({2, 3});
#ifdef ALLOWED
  cross_entropy(logits, arange(2));
#else
  cross_entropy(logits, arange(3));  // here
#endif
}
