// tests/errors/run/irfft_of_another_length.cc -- frequencies of a tensor of another length
// expect: irfft: a real tensor of length 7 has 4 frequencies, got axis 0 of f64[5]
// expect: hint: rfft gives as many; pad or slice others
#include "tests/errors/fails.h"

MISTAKE(irfft_of_another_length) {
  const Complex y = rfft(ones({8}));
#ifdef ALLOWED
  irfft(y, 8);
#else
  irfft(y, 7);  // here
#endif
}
