// tests/errors/run/native_function_of_other_results.cc -- a signature of another function
//
// expect: native: the function gives (f64[2]), its signature says (f64[])
#include "tests/errors/fails.h"

MISTAKE(native_function_of_other_results) {
#ifdef ALLOWED
  native<double(double)>([](Tensor x) { return sum(x * ones({2})); }, {.tier = Tier::interpreter});
#else
  native<double(double)>([](Tensor x) { return x * ones({2}); });  // here
#endif
}
