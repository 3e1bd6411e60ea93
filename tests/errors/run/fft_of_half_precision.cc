// tests/errors/run/fft_of_half_precision.cc -- the spectrum of 16-bit floats
// expect: fft: takes f32, f64, got f16[4] and f16[4]
#include "tests/errors/fails.h"

MISTAKE(fft_of_half_precision) {
#ifdef ALLOWED
  fft(ones({4}, f16).astype(f32));
#else
  fft(ones({4}, f16));  // here
#endif
}
