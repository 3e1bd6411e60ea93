// tests/errors/run/parts_of_a_complex_number_differ.cc -- real and imaginary parts that do not fit
// expect: fft: shapes do not broadcast: f64[3] and f64[4]
#include "tests/errors/fails.h"

MISTAKE(parts_of_a_complex_number_differ) {
#ifdef ALLOWED
  fft(Complex{ones({4}), zeros({4})});
#else
  fft(Complex{ones({3}), zeros({4})});  // here
#endif
}
