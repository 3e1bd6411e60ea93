// tests/errors/compile/scan_returns_no_pair.cc -- a scan whose function returns the carry only
// expect: hom: the function of scan returns pair{{carry, y}}; y may be std::tuple<>{{}}.
#include "tests/errors/fails.h"

MISTAKE(scan_returns_no_pair) {
  const Tensor xs = ones({3});
#ifdef ALLOWED
  scan([](Tensor sum, Tensor x) { return std::pair{sum + x, std::tuple<>{}}; }, 0.0, xs);
#else
  scan([](Tensor sum, Tensor x) { return sum + x; }, 0.0, xs);  // here
#endif
}
