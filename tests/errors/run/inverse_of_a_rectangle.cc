// tests/errors/run/inverse_of_a_rectangle.cc -- only square matrices have an inverse
// expect: inverse: takes square matrices […, n, n], got f64[2, 3]
// expect: hint: pinv takes matrices of other shapes
#include "tests/errors/fails.h"

MISTAKE(inverse_of_a_rectangle) {
  const Tensor a = ones({2, 3});
#ifdef ALLOWED
  pinv(a);
#else
  inverse(a);  // here
#endif
}
