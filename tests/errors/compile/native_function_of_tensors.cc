// tests/errors/compile/native_function_of_tensors.cc -- a plain pointer to a function of arrays
// expect: hom: native<R(Args...)> is for functions of C++ numbers
#include "tests/errors/fails.h"

MISTAKE(native_function_of_tensors) {
  const auto f = [](Tensor x) { return x * 2.0; };
#ifdef ALLOWED
  native<double(double)>(f, {.tier = Tier::interpreter});
#else
  native<Tensor(double)>(f);  // here
#endif
}
