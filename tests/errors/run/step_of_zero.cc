// tests/errors/run/step_of_zero.cc -- counting that does not get on
// expect: arange: the step is 0
#include "tests/errors/fails.h"

MISTAKE(step_of_zero) {
#ifdef ALLOWED
  arange(0, 6, 2);
  arange(6, 0, -2);
#else
  arange(0, 6, 0);  // here
#endif
}
