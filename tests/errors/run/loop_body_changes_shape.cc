// tests/errors/run/loop_body_changes_shape.cc -- a body that returns more elements than it takes
// expect: fori_loop: the body takes `carry[1]` as f64[2] and returns f64[4]
#include "tests/errors/fails.h"

MISTAKE(loop_body_changes_shape) {
  const auto doubled = [](Tensor, Tensor a, Tensor b) { return std::pair{a, concat({b, b}, 0)}; };
  const auto halves = [](Tensor, Tensor a, Tensor b) {
    return std::pair{a, (b + flip(b, {0})) / 2};
  };
  const auto start = std::pair{Tensor(1.0), ones({2})};
#ifdef ALLOWED
  fori_loop(0, 3, halves, start);
  static_cast<void>(doubled);
#else
  fori_loop(0, 3, doubled, start);  // here
  static_cast<void>(halves);
#endif
}
