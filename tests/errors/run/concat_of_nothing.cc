// tests/errors/run/concat_of_nothing.cc -- no parts to join
// expect: concat: no parts to join
#include <vector>

#include "tests/errors/fails.h"

MISTAKE(concat_of_nothing) {
  std::vector<Tensor> parts;
#ifdef ALLOWED
  parts.push_back(ones({2}));
  concat(parts);
#else
  concat(parts);  // here
#endif
}
