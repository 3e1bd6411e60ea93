// tests/errors/run/implicit_solution_of_integers.cc -- an integer among the unknowns
// expect: implicit: the solution has a leaf i32[], and all of its leaves are floats of one dtype
// expect: hint: convert with astype inside solve
#include "tests/errors/fails.h"

MISTAKE(implicit_solution_of_integers) {
  const auto residual = [](Tensor x, Tensor a) { return x - a; };
#ifdef ALLOWED
  grad(implicit([](Tensor a) { return floor(a); }, residual))(4.0);
#else
  const auto solve = [](Tensor a) { return a.astype(i32); };
  grad([&](Tensor a) { return implicit(solve, residual)(a) * a; })(4.0);  // here
#endif
}
