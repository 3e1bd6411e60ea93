// tests/errors/run/ragged_rows.cc -- nested lists of different lengths
// expect: tensor: nested lists of 2 and of 1 elements
// expect: hint: every row must have the same length
#include "tests/errors/fails.h"

MISTAKE(ragged_rows) {
#ifdef ALLOWED
  tensor({{1, 2}, {3, 4}});
#else
  tensor({{1, 2}, {3}});  // here
#endif
}
