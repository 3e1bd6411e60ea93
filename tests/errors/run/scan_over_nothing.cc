// tests/errors/run/scan_over_nothing.cc -- a scan over a vector without tensors
// expect: scan: nothing to go over: xs has no tensors
// expect: hint: fori_loop counts; scan over arange(n) gives the positions
#include "tests/errors/fails.h"

MISTAKE(scan_over_nothing) {
  using List = std::vector<Tensor>;
  const auto f = [](Tensor sum, List) { return std::pair{sum + 1, sum}; };
#ifdef ALLOWED
  scan(f, 0.0, List{arange(3)});
#else
  scan(f, 0.0, List{});  // here
#endif
}
