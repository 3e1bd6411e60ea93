// tests/errors/run/compile_without_a_cache.cc -- a compiled function keeps at least what it runs
// expect: compile: a cache of 0 signatures
#include "tests/errors/fails.h"

MISTAKE(compile_without_a_cache) {
  const auto f = [](Tensor x) { return x * 2.0; };
#ifdef ALLOWED
  compile(f, {.cache = 1});
#else
  compile(f, {.cache = 0});  // here
#endif
}
