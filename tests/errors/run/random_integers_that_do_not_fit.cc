// tests/errors/run/random_integers_that_do_not_fit.cc -- integers that their dtype does not hold
//
// expect: random_integers: u8 does not hold the integers from 0 to below 301
// expect: hint: ask for a wider dtype
#include "tests/errors/fails.h"

MISTAKE(random_integers_that_do_not_fit) {
#ifdef ALLOWED
  random_integers(key(1), {3}, 0, 256, u8);
#else
  random_integers(key(1), {3}, 0, 301, u8);  // here
#endif
}
