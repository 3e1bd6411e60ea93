// tests/errors/run/random_integers_as_floats.cc -- integers of a dtype of floats
// expect: random_integers: makes integers, not f32
// expect: hint: uniform gives floats
#include "tests/errors/fails.h"

MISTAKE(random_integers_as_floats) {
#ifdef ALLOWED
  random_integers(key(1), {3}, 0, 9, i32);
#else
  random_integers(key(1), {3}, 0, 9, f32);  // here
#endif
}
