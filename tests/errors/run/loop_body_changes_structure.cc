// tests/errors/run/loop_body_changes_structure.cc -- a loop whose carry is a vector that grows
// expect: fori_loop: the body takes a carry of one structure and returns another: nothing more
// expect: hint: a carry keeps the length of its vectors
#include "tests/errors/fails.h"

MISTAKE(loop_body_changes_structure) {
  using List = std::vector<Tensor>;
  const List start{Tensor(1.0)};
#ifdef ALLOWED
  fori_loop(0, 3, [](Tensor, List v) { return List{v[0] * 2}; }, start);
#else
  const auto body = [](Tensor, List v) { return List{v[0], v[0] * 2}; };
  fori_loop(0, 3, body, start);  // here
#endif
}
