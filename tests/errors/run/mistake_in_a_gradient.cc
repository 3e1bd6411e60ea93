// tests/errors/run/mistake_in_a_gradient.cc -- a read that fails while the gradient is computed
// expect: gather:
// expect: 9
// expect: axis 0
#include "tests/errors/fails.h"

MISTAKE(mistake_in_a_gradient) {
  const auto f = [](Tensor x, Tensor i) {
    return sum(take(x, i));  // here
  };
#ifdef ALLOWED
  grad(f)(ones({3}), tensor({2}));
#else
  grad(f)(ones({3}), tensor({9}));
#endif
}
