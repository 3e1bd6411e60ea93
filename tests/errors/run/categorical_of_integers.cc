// tests/errors/run/categorical_of_integers.cc -- integers where logarithms are wanted
//
// expect: categorical: takes floats, got i32[3]
#include "tests/errors/fails.h"

MISTAKE(categorical_of_integers) {
#ifdef ALLOWED
  categorical(key(1), log(tensor({1.0, 2.0, 3.0})));
#else
  categorical(key(1), tensor({1, 2, 3}));  // here
#endif
}
