// tests/errors/run/scan_over_a_scalar.cc -- a scan over a tensor without axes
// expect: scan: `xs[1]` is f64[] and has no axis to go along
// expect: hint: what is the same for all elements is captured by the lambda
#include "tests/errors/fails.h"

MISTAKE(scan_over_a_scalar) {
  const Tensor scale = Tensor(2.0);
  const Tensor x = ones({3});
#ifdef ALLOWED
  const auto f = [&](Tensor sum, Tensor t) { return std::pair{sum + scale * t, t}; };
  scan(f, 0.0, x);
#else
  using Two = std::pair<Tensor, Tensor>;
  const auto f = [](Tensor sum, Two p) { return std::pair{sum + p.first * p.second, sum}; };
  scan(f, 0.0, Two{x, scale});  // here
#endif
}
