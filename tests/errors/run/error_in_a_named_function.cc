// tests/errors/run/error_in_a_named_function.cc -- a mistake inside a function that has a name
// expect: matmul: inner extents differ
// expect: , in `forward`
#include "tests/errors/fails.h"

MISTAKE(error_in_a_named_function) {
#ifdef ALLOWED
  const Tensor weight = ones({3, 2});
#else
  const Tensor weight = ones({2, 3});
#endif
  const auto forward = named("forward", [=](Tensor x) {
    return matmul(x, weight);  // here
  });
  forward(ones({3}));
}
