// tests/errors/run/uniform_integers.cc -- integers from a function that makes floats
// expect: uniform: makes floats, not i32
// expect: hint: random_integers gives integers
#include "tests/errors/fails.h"

MISTAKE(uniform_integers) {
#ifdef ALLOWED
  uniform(key(1), {3}, 0, 9);
  random_integers(key(1), {3}, 0, 9);
#else
  uniform(key(1), {3}, 0, 9, i32);  // here
#endif
}
