// core/convert_element.h -- conversion of one element between dtypes: total, never undefined
#pragma once

#include <cmath>
#include <limits>

#include <hom/core/dtype.h>

namespace hom {

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
      return To(static_cast<float>(value));
    } else {
      return static_cast<To>(value);
    }
  } else if constexpr (from_float) {
    using Wide = std::conditional_t<std::same_as<From, double>, double, float>;
    const Wide wide = static_cast<Wide>(value);
    if (std::isnan(wide)) return To{0};
    // The largest integer may round up to 2^k as a float, so compare with >=; the smallest is exact.
    if (wide >= static_cast<Wide>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (wide <= static_cast<Wide>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(wide);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace hom
