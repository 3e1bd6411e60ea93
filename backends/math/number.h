// backends/math/number.h -- what a number type offers to the functions of this folder
//
// Functions are written once, for any type N of numbers: vectors of a processor (pack.h), or values
// of a loop nest (backends/nests/expand_functions.cc), which is how a C++ function becomes a part
// of a kernel. N has + − · / and comparisons, which give masks with & and |; and these, found by
// the type:
//
//     like(x, 0.5)           a constant
//     fma(a, b, c)           a·b + c, rounded once
//     sqrt(x), abs(x), copysign(magnitude, sign), select(mask, a, b)
//     bits(x), number(x, b)  the same bits as an unsigned integer, and back
//     bits_like(x, 1)        an integer constant; integers have + − & ^, shift_left, shift_right
//                            (of zeros) and is_zero
//     rarely(mask, function, x…)
//                            the function by the host's library where the mask holds, 0 elsewhere;
//                            hardly ever does it hold anywhere
//
// `Element<N>` is float or double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace hom::math {

template <class N>
using Element = typename N::Element;
template <class N>
inline constexpr bool is_f64 = std::is_same_v<Element<N>, double>;

/// What the host's library computes for lanes that are out of reach.
enum class Rare : std::uint8_t { sin, cos, tan, rem };

#define HOM_MATH inline __attribute__((always_inline))

/// One of two constants, by the dtype.
template <class N>
constexpr double pick(float f32, double f64) {
  return is_f64<N> ? f64 : static_cast<double>(f32);
}

/// c[0] + c[1]·x + …, by Horner's rule.
template <class N, class T, std::size_t n>
HOM_MATH N polynomial(const N& x, const T (&c)[n]) {
  N sum = like(x, c[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) sum = fma(sum, x, like(x, c[i]));
  return sum;
}
/// By the dtype.
template <class N, std::size_t n, std::size_t m>
HOM_MATH N polynomial(const N& x, const float (&f32)[n], const double (&f64)[m]) {
  if constexpr (is_f64<N>) {
    return polynomial(x, f64);
  } else {
    return polynomial(x, f32);
  }
}

template <class N>
inline constexpr int fraction_bits = std::numeric_limits<Element<N>>::digits - 1;
template <class N>
inline constexpr int exponent_bias = std::numeric_limits<Element<N>>::max_exponent - 1;
template <class N>
inline constexpr double infinity = std::numeric_limits<double>::infinity();
template <class N>
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
/// Adding it rounds to an integer, which stands in the low bits of the sum.
template <class N>
inline constexpr double rounding = is_f64<N> ? 0x1.8p52 : 0x1.8p23;

/// Half to even; |x| < 2^22 or 2^51.
template <class N>
HOM_MATH N nearest(const N& x) {
  return (x + like(x, rounding<N>)) - like(x, rounding<N>);
}
/// 2ⁿ for an integer n between the exponents of normal numbers.
template <class N>
HOM_MATH N power_of_two(const N& n) {
  const N shifted = n + like(n, rounding<N> + exponent_bias<N>);
  return number(n, shift_left(bits(shifted), fraction_bits<N>));
}

/// a + b as a number and what it is short of the sum.
template <class N>
struct Pair {
  N high;
  N low;
};
/// The same for |a| ≥ |b|.
template <class N>
HOM_MATH Pair<N> fast_sum(const N& a, const N& b) {
  const N sum = a + b;
  return {sum, b - (sum - a)};
}
template <class N>
HOM_MATH Pair<N> exact_sum(const N& a, const N& b) {
  const N sum = a + b;
  const N rest = sum - a;
  return {sum, (a - (sum - rest)) + (b - rest)};
}
template <class N>
HOM_MATH Pair<N> exact_product(const N& a, const N& b) {
  const N product = a * b;
  return {product, fma(a, b, like(a, 0) - product)};
}

}  // namespace hom::math
