// backends/cpu/identities.h -- what a reduction of no terms gives
#pragma once

#include <limits>

namespace hom::cpu {

template <class T>
struct SumIdentity {
  static constexpr T value = T{0};
};
template <class T>
struct ProdIdentity {
  static constexpr T value = T{1};
};
template <class T>
struct MaxIdentity {
  static constexpr T value = std::numeric_limits<T>::has_infinity
                                 ? -std::numeric_limits<T>::infinity()
                                 : std::numeric_limits<T>::lowest();
};
template <class T>
struct MinIdentity {
  static constexpr T value = std::numeric_limits<T>::has_infinity
                                 ? std::numeric_limits<T>::infinity()
                                 : std::numeric_limits<T>::max();
};
template <class T>
struct AndIdentity {
  static constexpr T value = true;
};
template <class T>
struct OrIdentity {
  static constexpr T value = false;
};

}  // namespace hom::cpu
