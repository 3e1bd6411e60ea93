// tests/errors/run/rfft_of_nothing.cc -- the spectrum of no elements, by halves
// expect: rfft: the length is 0, and has to be positive
#include "tests/errors/fails.h"

MISTAKE(rfft_of_nothing) {
#ifdef ALLOWED
  rfft(ones({1}));
#else
  rfft(zeros({0}));  // here
#endif
}
