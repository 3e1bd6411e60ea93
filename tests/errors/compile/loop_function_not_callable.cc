// tests/errors/compile/loop_function_not_callable.cc -- a loop whose body does not take its carry
// expect: hom: the function of a loop cannot be called with its carry
#include "tests/errors/fails.h"

MISTAKE(loop_function_not_callable) {
  const auto one = [](Tensor, Tensor x) { return x; };
  const auto two = [](Tensor, Tensor x, Tensor y) { return std::pair{x, y}; };
#ifdef ALLOWED
  fori_loop(0, 3, one, 1.0);
  fori_loop(0, 3, two, std::pair{1.0, 2.0});
#else
  fori_loop(0, 3, two, 1.0);  // here
  static_cast<void>(one);
#endif
}
