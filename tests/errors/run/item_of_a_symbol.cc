// tests/errors/run/item_of_a_symbol.cc -- the value of a symbol
// expect: the value of a symbolic tensor f64[]
// expect: is asked for while a program is captured
// expect: hint: use where(condition, a, b) or cond(condition, then, otherwise, operands...)
#include "tests/errors/fails.h"

MISTAKE(item_of_a_symbol) {
#ifdef ALLOWED
  grad([](Tensor x) { return cond(x > 0, [](Tensor t) { return t; }, arrows::neg, x); })(1.0);
#else
  grad([](Tensor x) { return x.item() > 0 ? x : -x; })(1.0);  // here
#endif
}
