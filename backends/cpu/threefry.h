// backends/cpu/threefry.h -- the Threefry-2x32 random function with 20 rounds
//
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Equal to
// threefry2x32_R(20, counter, key) of their Random123, whose header a compiled kernel cannot
// include.
#pragma once

#include <cstdint>

namespace hom::scalar {

struct TwoWords {
  std::uint32_t first;
  std::uint32_t second;
};

namespace detail {
template <int bits>
constexpr void threefry_round(TwoWords& x) {
  x.first += x.second;
  x.second = (x.second << bits | x.second >> (32 - bits)) ^ x.first;
}
}  // namespace detail

/// Random bits number `counter` under `key`.
constexpr TwoWords threefry2x32(TwoWords counter, TwoWords key) {
  using detail::threefry_round;
  const std::uint32_t parity = 0x1bd11bdau ^ key.first ^ key.second;
  TwoWords x{counter.first + key.first, counter.second + key.second};
  const auto inject = [&x](std::uint32_t a, std::uint32_t b, std::uint32_t round) {
    x.first += a;
    x.second += b + round;
  };
  const auto odd_rounds = [&x] {
    threefry_round<13>(x);
    threefry_round<15>(x);
    threefry_round<26>(x);
    threefry_round<6>(x);
  };
  const auto even_rounds = [&x] {
    threefry_round<17>(x);
    threefry_round<29>(x);
    threefry_round<16>(x);
    threefry_round<24>(x);
  };
  odd_rounds();
  inject(key.second, parity, 1);
  even_rounds();
  inject(parity, key.first, 2);
  odd_rounds();
  inject(key.first, key.second, 3);
  even_rounds();
  inject(key.second, parity, 4);
  odd_rounds();
  inject(parity, key.first, 5);
  return x;
}

}  // namespace hom::scalar
