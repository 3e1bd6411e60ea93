// tests/errors/run/leaked_symbol_in_another_capture.cc -- a symbol kept for the next one
// expect: leaked_symbol_in_another_capture.cc:{made} is used after its capture has ended
#include "tests/errors/fails.h"

MISTAKE(leaked_symbol_in_another_capture) {
  Tensor kept = 2.0;
#ifndef ALLOWED
  grad([&](Tensor x) { return kept = x * x; })(1.0);  // made here
#endif
#ifdef ALLOWED
  grad([&](Tensor x) { return x * kept; })(1.0);
#else
  grad([&](Tensor x) { return x * kept; })(1.0);  // here
#endif
}
