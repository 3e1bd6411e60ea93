// tests/errors/run/partition_at_a_place_outside.cc -- the place of an element that does not exist
// expect: partition: place 3 of axis 0 of f64[3] does not exist
#include "tests/errors/fails.h"

MISTAKE(partition_at_a_place_outside) {
#ifdef ALLOWED
  partition(ones({3}), -1);
#else
  partition(ones({3}), 3);  // here
#endif
}
