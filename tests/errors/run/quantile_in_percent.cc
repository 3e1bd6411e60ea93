// tests/errors/run/quantile_in_percent.cc -- a quantile given in percent
// expect: quantile: q is 95.000000, not a fraction between 0 and 1
// expect: hint: divide percents by 100
#include "tests/errors/fails.h"

MISTAKE(quantile_in_percent) {
  const Tensor x = ones({20});
#ifdef ALLOWED
  quantile(x, 0.95);
#else
  quantile(x, 95);  // here
#endif
}
