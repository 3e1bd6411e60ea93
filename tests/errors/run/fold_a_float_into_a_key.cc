// tests/errors/run/fold_a_float_into_a_key.cc -- a key for a number that is not whole
// expect: fold_in: folds integers into a key, not f64[]
#include "tests/errors/fails.h"

MISTAKE(fold_a_float_into_a_key) {
#ifdef ALLOWED
  fold_in(key(1), 2);
#else
  fold_in(key(1), 2.0);  // here
#endif
}
