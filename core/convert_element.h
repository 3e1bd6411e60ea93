// core/convert_element.h -- conversion of one element between dtypes: total, never undefined
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include <hom/core/dtype.h>

namespace hom {
namespace detail {

/// `value` as a float that rounds on to 16 bits as `value` itself would: rounded to odd, so that a
/// tie of the second rounding is one only if `value` is (S. Boldo and G. Melquiond, "Emulation of
/// FMA and correctly rounded sums", 2008).
template <class From>
float rounded_to_odd(From value) {
  if constexpr (std::same_as<From, float> || sizeof(From) <= 2) {
    return static_cast<float>(value);
  } else {
    const float nearest = static_cast<float>(value);
    if (!std::isfinite(nearest)) return nearest;
    // Compared in a type that holds both exactly.
    const auto wide = static_cast<long double>(value);
    const auto error = wide - static_cast<long double>(nearest);
    if (error == 0 || (std::bit_cast<std::uint32_t>(nearest) & 1u) != 0) return nearest;
    return std::nextafter(nearest, error > 0 ? std::numeric_limits<float>::infinity()
                                             : -std::numeric_limits<float>::infinity());
  }
}

}  // namespace detail

template <Element To, Element From>
To convert_element(From value) {
  constexpr bool from_float = dtype_of<From>().is_float();
  if constexpr (std::same_as<To, bool>) {
    if constexpr (from_float && sizeof(From) == 2) {
      return static_cast<float>(value) != 0.0f;
    } else {
      return value != From{};
    }
  } else if constexpr (dtype_of<To>().is_float()) {
    if constexpr (sizeof(To) == 2) {
      return To(detail::rounded_to_odd(value));
    } else {
      return static_cast<To>(value);
    }
  } else if constexpr (from_float) {
    using Wide = std::conditional_t<std::same_as<From, double>, double, float>;
    const Wide wide = static_cast<Wide>(value);
    if (std::isnan(wide)) return To{0};
    // The largest integer may round up to 2^k as a float, so compare with >=; the smallest is
    // exact.
    if (wide >= static_cast<Wide>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    if (wide <= static_cast<Wide>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(wide);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace hom
