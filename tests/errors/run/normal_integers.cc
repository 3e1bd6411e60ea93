// tests/errors/run/normal_integers.cc -- normal numbers that are no floats
// expect: normal: makes floats, not i32
// expect: hint: random_integers gives integers
#include "tests/errors/fails.h"

MISTAKE(normal_integers) {
#ifdef ALLOWED
  normal(key(1), {3}, f64);
#else
  normal(key(1), {3}, i32);  // here
#endif
}
