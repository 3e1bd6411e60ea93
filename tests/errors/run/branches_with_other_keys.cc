// tests/errors/run/branches_with_other_keys.cc -- branches that return maps with different keys
// expect: the structures of products differ: leaf 0 is `tree.a` in the first and `tree.b` in
// another
#include "tests/errors/fails.h"

MISTAKE(branches_with_other_keys) {
  using Map = std::map<std::string, Tensor>;
  const auto a = [](Tensor x) { return Map{{"a", x}}; };
#ifdef ALLOWED
  const auto b = [](Tensor x) { return Map{{"a", 2 * x}}; };
#else
  const auto b = [](Tensor x) { return Map{{"b", 2 * x}}; };
#endif
  program([&](Tensor x) { return cond(x > 0, a, b, x); }, f64[{}]);  // here
}
