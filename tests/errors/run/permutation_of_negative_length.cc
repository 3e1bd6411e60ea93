// tests/errors/run/permutation_of_negative_length.cc -- an order of less than no elements
// expect: permutation: of -1 elements
#include "tests/errors/fails.h"

MISTAKE(permutation_of_negative_length) {
#ifdef ALLOWED
  permutation(key(1), 0);
#else
  permutation(key(1), -1);  // here
#endif
}
