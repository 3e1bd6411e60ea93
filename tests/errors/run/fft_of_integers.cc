// tests/errors/run/fft_of_integers.cc -- the spectrum of integers
// expect: fft: takes floats, got i64[4]
// expect: hint: convert with astype(f32) or astype(f64)
#include "tests/errors/fails.h"

MISTAKE(fft_of_integers) {
#ifdef ALLOWED
  fft(arange(4, f64));
#else
  fft(arange(4));  // here
#endif
}
