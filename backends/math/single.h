// backends/math/single.h -- a float or double as a number of this folder
//
// Included by files that are compiled for one instruction set each, as pack.h is.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <hom/backends/math/host.h>

namespace hom::math::HOM_VECTOR_SET {

struct SingleMask {
  bool v;
  friend HOM_MATH SingleMask operator&(SingleMask a, SingleMask b) { return {a.v && b.v}; }
  friend HOM_MATH SingleMask operator|(SingleMask a, SingleMask b) { return {a.v || b.v}; }
  friend HOM_MATH SingleMask operator!(SingleMask a) { return {!a.v}; }
};

template <class E>
struct SingleInteger {
  using Unsigned = std::conditional_t<sizeof(E) == 4, std::uint32_t, std::uint64_t>;
  Unsigned v;
  friend HOM_MATH SingleInteger operator+(SingleInteger a, SingleInteger b) { return {a.v + b.v}; }
  friend HOM_MATH SingleInteger operator-(SingleInteger a, SingleInteger b) { return {a.v - b.v}; }
  friend HOM_MATH SingleInteger operator&(SingleInteger a, SingleInteger b) { return {a.v & b.v}; }
  friend HOM_MATH SingleInteger operator^(SingleInteger a, SingleInteger b) { return {a.v ^ b.v}; }
};

template <class E>
struct Single {
  using Element = E;
  E v;

  friend HOM_MATH Single operator+(Single a, Single b) { return {a.v + b.v}; }
  friend HOM_MATH Single operator-(Single a, Single b) { return {a.v - b.v}; }
  friend HOM_MATH Single operator*(Single a, Single b) { return {a.v * b.v}; }
  friend HOM_MATH Single operator/(Single a, Single b) { return {a.v / b.v}; }
  friend HOM_MATH SingleMask operator<(Single a, Single b) { return {a.v < b.v}; }
  friend HOM_MATH SingleMask operator>(Single a, Single b) { return {a.v > b.v}; }
  friend HOM_MATH SingleMask operator>=(Single a, Single b) { return {a.v >= b.v}; }
  friend HOM_MATH SingleMask operator==(Single a, Single b) { return {a.v == b.v}; }
};

template <class E>
HOM_MATH Single<E> like(Single<E>, double value) {
  return {static_cast<E>(value)};
}
template <class E>
HOM_MATH SingleInteger<E> bits_like(Single<E>, std::uint64_t value) {
  return {static_cast<typename SingleInteger<E>::Unsigned>(value)};
}
template <class E>
HOM_MATH SingleInteger<E> bits(Single<E> x) {
  return {std::bit_cast<typename SingleInteger<E>::Unsigned>(x.v)};
}
template <class E>
HOM_MATH Single<E> number(Single<E>, SingleInteger<E> b) {
  return {std::bit_cast<E>(b.v)};
}
template <class E>
HOM_MATH SingleInteger<E> shift_left(SingleInteger<E> b, int by) {
  return {b.v << by};
}
template <class E>
HOM_MATH SingleInteger<E> shift_right(SingleInteger<E> b, int by) {
  return {b.v >> by};
}
template <class E>
HOM_MATH SingleMask is_zero(SingleInteger<E> b) {
  return {b.v == 0};
}
template <class E>
HOM_MATH Single<E> select(SingleMask mask, Single<E> a, Single<E> b) {
  return mask.v ? a : b;
}
template <class E>
HOM_MATH Single<E> abs(Single<E> x) {
  if constexpr (sizeof(E) == 4) {
    return {__builtin_fabsf(x.v)};
  } else {
    return {__builtin_fabs(x.v)};
  }
}
template <class E>
HOM_MATH Single<E> copysign(Single<E> magnitude, Single<E> sign) {
  if constexpr (sizeof(E) == 4) {
    return {__builtin_copysignf(magnitude.v, sign.v)};
  } else {
    return {__builtin_copysign(magnitude.v, sign.v)};
  }
}
template <class E>
HOM_MATH Single<E> fma(Single<E> a, Single<E> b, Single<E> c) {
  if constexpr (sizeof(E) == 4) {
    return {__builtin_fmaf(a.v, b.v, c.v)};
  } else {
    return {__builtin_fma(a.v, b.v, c.v)};
  }
}
template <class E>
HOM_MATH Single<E> sqrt(Single<E> x) {
  if constexpr (sizeof(E) == 4) {
    return {__builtin_sqrtf(x.v)};
  } else {
    return {__builtin_sqrt(x.v)};
  }
}
template <class E>
HOM_MATH Single<E> rarely(SingleMask mask, Rare function, Single<E> x, Single<E> y) {
  if (!mask.v) [[likely]]
    return {0};
  return {ask_host(function, x.v, y.v)};
}
template <class E>
HOM_MATH Single<E> rarely(SingleMask mask, Rare function, Single<E> x) {
  return rarely(mask, function, x, x);
}

}  // namespace hom::math::HOM_VECTOR_SET
