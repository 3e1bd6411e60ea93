// tests/errors/run/update_outside.cc -- a written index beyond the last element
// expect: index: 3 is outside axis 0 of f64[3, 2]
#include "tests/errors/fails.h"

MISTAKE(update_outside) {
  Tensor x = ones({3, 2});
#ifdef ALLOWED
  x.at(2) = 1.0;
  x.at(-3) += 1.0;
#else
  x.at(3) = 1.0;  // here
#endif
}
