// tests/errors/compile/compose_lambdas.cc -- `>>` between two lambdas, neither of which is an arrow
// expect: operand
#include "tests/errors/fails.h"

MISTAKE(compose_lambdas) {
  const auto f = [](Tensor x) { return sin(x); };
  const auto g = [](Tensor x) { return cos(x); };
#ifdef ALLOWED
  const auto h = arrow(f) >> g;
  h(Tensor(1.0));
#else
  const auto h = f >> g;  // here
  h(Tensor(1.0));
#endif
}
