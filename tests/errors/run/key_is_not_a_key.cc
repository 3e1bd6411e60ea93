// tests/errors/run/key_is_not_a_key.cc -- random bits of an ordinary tensor
// expect: random_bits: the key is f64[3], not u32[2]
// expect: hint: make one with key(seed)
#include "tests/errors/fails.h"

MISTAKE(key_is_not_a_key) {
#ifdef ALLOWED
  random_bits(key(3), {3});
#else
  random_bits(Key{ones({3})}, {3});  // here
#endif
}
