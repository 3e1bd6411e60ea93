// tests/errors/compile/returns_struct_not_adapted.cc -- a result that Hom cannot look into
// expect: hom:
// expect: adapted with Boost.Hana
#include "tests/errors/fails.h"

struct Bare {
  Tensor weight;
};

MISTAKE(returns_struct_not_adapted) {
#ifdef ALLOWED
  program([](Tensor x) { return std::pair{x, x}; }, f64[{}]);
#else
  program([](Tensor x) { return Bare{x}; }, f64[{}]);  // here
#endif
}
