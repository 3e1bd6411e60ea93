// backends/cpu/jit/reduction_identity.h -- what a reduction starts from
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

#include <hom/backends/nests/nest.h>

namespace hom::cpu {

/// The bits of what changes no term. Extremes of floats start from the infinities.
template <class T>
std::int64_t identity_bits(nest::Combine combine) {
  using Limits = std::numeric_limits<T>;
  T value{};
  switch (combine) {
    case nest::Combine::prod:
    case nest::Combine::and_:
      value = T(1);
      break;
    case nest::Combine::max:
    case nest::Combine::argmax:
      value = Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
      break;
    case nest::Combine::min:
    case nest::Combine::argmin:
      value = Limits::has_infinity ? Limits::infinity() : Limits::max();
      break;
    default:
      break;
  }
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<std::int64_t>(value);
  else
    return static_cast<std::int64_t>(value);
}

}  // namespace hom::cpu
