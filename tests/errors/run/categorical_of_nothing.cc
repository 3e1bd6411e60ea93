// tests/errors/run/categorical_of_nothing.cc -- a choice among no categories
// expect: categorical: axis 0 of f64[0] is empty: nothing to choose from
#include "tests/errors/fails.h"

MISTAKE(categorical_of_nothing) {
#ifdef ALLOWED
  categorical(key(1), zeros({1}));
#else
  categorical(key(1), zeros({0}));  // here
#endif
}
