// tests/errors/run/leaked_symbol.cc -- a symbol kept beyond the capture that made it
// expect: a symbolic tensor made at
// expect: leaked_symbol.cc:{made} is used after its capture has ended
// expect: hint: return it from the captured function
#include "tests/errors/fails.h"

MISTAKE(leaked_symbol) {
  Tensor kept;
#ifdef ALLOWED
  const Program p = program([](Tensor x) { return sin(x); }, f64[{}]);
  kept = evaluate(p, {1.0})[0];
  kept + 1;
#else
  program([&](Tensor x) { return kept = sin(x); }, f64[{}]);  // made here
  kept + 1;                                                   // here
#endif
}
