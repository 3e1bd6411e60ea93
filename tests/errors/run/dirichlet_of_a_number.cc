// tests/errors/run/dirichlet_of_a_number.cc -- shares without an axis for them
// expect: dirichlet: takes concentrations [..., n], one for each share, got a number
#include "tests/errors/fails.h"

MISTAKE(dirichlet_of_a_number) {
#ifdef ALLOWED
  dirichlet(key(1), ones({3}));
#else
  dirichlet(key(1), 1.0);  // here
#endif
}
