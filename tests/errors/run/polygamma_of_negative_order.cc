// tests/errors/run/polygamma_of_negative_order.cc -- a derivative of negative order
// expect: polygamma: there is no derivative of order -1 of ψ
// expect: hint: polygamma(0, x) is digamma(x)
#include "tests/errors/fails.h"

MISTAKE(polygamma_of_negative_order) {
#ifdef ALLOWED
  polygamma(0, 0.5);
#else
  polygamma(-1, 0.5);  // here
#endif
}
