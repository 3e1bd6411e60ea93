// tests/errors/compile/implicit_residual_without_solution.cc -- it takes no unknowns
// expect: hom: the residual of implicit takes the solution, then the arguments
#include "tests/errors/fails.h"

MISTAKE(implicit_residual_without_solution) {
  const auto root = [](Tensor a) { return sqrt(a); };
#ifdef ALLOWED
  implicit(root, [](Tensor x, Tensor a) { return x * x - a; })(4.0);
#else
  implicit(root, [](Tensor a) { return a; })(4.0);  // here
#endif
}
