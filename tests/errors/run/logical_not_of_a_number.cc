// tests/errors/run/logical_not_of_a_number.cc -- `!x` of floats: the error names x's line, as `!`
// cannot know its own
// expect: not
// expect: f64[3]
#include "tests/errors/fails.h"

MISTAKE(logical_not_of_a_number) {
#ifdef ALLOWED
  const Tensor x = ones({3}) == 1;
#else
  const Tensor x = ones({3});  // here
#endif
  !x;
}
