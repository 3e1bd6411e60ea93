// tests/errors/run/cotangent_of_another_structure.cc -- one cotangent for two results
// expect: transpose: 1 cotangents for a function with 2 results
// expect: a cotangent has the structure of the result
#include "tests/errors/fails.h"

MISTAKE(cotangent_of_another_structure) {
  const auto twice = transpose([](Tensor x) { return std::tuple{x, 2 * x}; }, f64[{}]);
#ifdef ALLOWED
  twice(std::tuple{1.0, 1.0});
#else
  twice(1.0);  // here
#endif
}
