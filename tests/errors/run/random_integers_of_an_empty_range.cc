// tests/errors/run/random_integers_of_an_empty_range.cc -- two ends that leave no integers between
//
// expect: random_integers: there are no integers from 5 to below 5
// expect: hint: the upper end is not included
#include "tests/errors/fails.h"

MISTAKE(random_integers_of_an_empty_range) {
#ifdef ALLOWED
  random_integers(key(1), {3}, 5, 6);
#else
  random_integers(key(1), {3}, 5, 5);  // here
#endif
}
