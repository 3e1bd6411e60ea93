// tests/errors/run/more_elements_than_64_bits_count.cc -- extents whose product overflows
// expect: a tensor of shape [4294967296, 4294967296] has more elements than 64 bits count
#include "tests/errors/fails.h"

MISTAKE(more_elements_than_64_bits_count) {
  constexpr std::int64_t extent = std::int64_t{1} << 32;
#ifdef ALLOWED
  zeros({extent, 0, extent});
#else
  zeros({extent, extent});  // here
#endif
}
