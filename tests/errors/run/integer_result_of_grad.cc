// tests/errors/run/integer_result_of_grad.cc -- the gradient of an integer result
// expect: grad: the function returns i32[], and only floats have derivatives
#include "tests/errors/fails.h"

MISTAKE(integer_result_of_grad) {
  const auto f = [](Tensor x) { return x.astype(i32); };
#ifdef ALLOWED
  grad([&](Tensor x) { return f(x) * x; })(2.5);
#else
  grad(f)(2.5);  // here
#endif
}
