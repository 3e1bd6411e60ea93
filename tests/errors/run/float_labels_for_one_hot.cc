// tests/errors/run/float_labels_for_one_hot.cc -- labels that are not integers
// expect: one_hot: labels are f64, not integers
#include "tests/errors/fails.h"

MISTAKE(float_labels_for_one_hot) {
  const Tensor labels = ones({3});
#ifdef ALLOWED
  one_hot(labels.astype(i32), 2);
#else
  one_hot(labels, 2);  // here
#endif
}
