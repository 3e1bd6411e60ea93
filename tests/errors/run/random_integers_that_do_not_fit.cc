// tests/errors/run/random_integers_that_do_not_fit.cc -- integers that their dtype does not hold
// expect: 300
#include "tests/errors/fails.h"

MISTAKE(random_integers_that_do_not_fit) {
#ifdef ALLOWED
  random_integers(key(1), {3}, 0, 256, u8);
#else
  random_integers(key(1), {3}, 0, 301, u8);  // here
#endif
}
