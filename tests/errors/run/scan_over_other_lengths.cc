// tests/errors/run/scan_over_other_lengths.cc -- a scan over tensors of different lengths
// expect: scan: `xs[0]` is f64[3] and `xs[1]` is f64[4] (3 ≠ 4)
// expect: hint: all of xs have the elements along their first axis
#include "tests/errors/fails.h"

MISTAKE(scan_over_other_lengths) {
  using Two = std::pair<Tensor, Tensor>;
  const auto f = [](Tensor sum, Two x) { return std::pair{sum + x.first, x.second}; };
#ifdef ALLOWED
  scan(f, 0.0, Two{ones({3}), ones({3, 2})});
#else
  scan(f, 0.0, Two{ones({3}), ones({4})});  // here
#endif
}
