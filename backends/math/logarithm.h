// backends/math/logarithm.h -- ln x and what is made of it
//
// x = 2ⁿ·m with m from √½ to √2; f = m − 1, s = f/(2 + f), and ln m = 2·atanh s. The sum is
// arranged as f − (f²/2 − s·(f²/2 + R)), whose large part is exact.
#pragma once

#include <hom/backends/math/exponential.h>

namespace hom::math {

template <class N>
struct Mantissa {
  /// √½ ≤ m < √2, less 1.
  N f;
  /// An integer.
  N n;
};

/// Of a positive normal number.
template <class N>
HOM_MATH Mantissa<N> mantissa_of(const N& x) {
  constexpr std::uint64_t half_root = is_f64<N> ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  constexpr std::uint64_t one = static_cast<std::uint64_t>(exponent_bias<N>) << fraction_bits<N>;
  constexpr std::uint64_t fraction = (std::uint64_t{1} << fraction_bits<N>)-1;
  const auto from_half_root = bits(x) + bits_like(x, one - half_root);
  const N m = number(x, (from_half_root & bits_like(x, fraction)) + bits_like(x, half_root));
  // The exponent as a number: behind the point of 2^52 or 2^23.
  constexpr double shift = is_f64<N> ? 0x1p52 : 0x1p23;
  constexpr std::uint64_t shift_bits = is_f64<N> ? 0x4330000000000000 : 0x4b000000;
  const N biased =
      number(x, shift_right(from_half_root, fraction_bits<N>) ^ bits_like(x, shift_bits));
  return {m - like(x, 1), biased - like(x, shift + exponent_bias<N>)};
}

/// A subnormal number as a normal one; others stay.
template <class N>
HOM_MATH Mantissa<N> mantissa_of_any(const N& x) {
  const auto is_small = x < like(x, std::numeric_limits<Element<N>>::min());
  constexpr double up = is_f64<N> ? 0x1p54 : 0x1p25;
  const Mantissa<N> of = mantissa_of(select(is_small, x * like(x, up), x));
  return {of.f, select(is_small, of.n - like(x, is_f64<N> ? 54 : 25), of.n)};
}

/// ln(2ⁿ·(1 + f)) + rest, for a small rest.
template <class N>
HOM_MATH N log_of(const Mantissa<N>& x, const N& rest) {
  constexpr double log2_high = pick<N>(0x1.62ep-1f, 0x1.62e42ffp-1);
  constexpr double log2_low = pick<N>(0x1.0bfbe8p-15f, -0x1.718432a1b0e26p-35);
  const N s = x.f / (like(x.f, 2) + x.f);
  const N z = s * s;
  const N r = z * polynomial(z, coefficients::log_rest_f32, coefficients::log_rest_f64);
  const N half_square = like(x.f, 0.5) * x.f * x.f;
  const N small = fma(x.n, like(x.f, log2_low), fma(s, half_square + r, rest));
  return fma(x.n, like(x.f, log2_high), x.f - (half_square - small));
}

/// The values at the ends of the domain: −∞ at 0, NaN below, and what x is where that is ∞ or NaN.
template <class N>
HOM_MATH N with_ends_of_log(const N& x, const N& zero, const N& inside) {
  const N finite = select(x < like(x, infinity<N>), inside, x);
  const N at_zero = select(x == zero, like(x, -infinity<N>), like(x, not_a_number<N>));
  return select(x > zero, finite, at_zero);
}

/// Less than 1 ulp off.
template <class N>
HOM_MATH N log(const N& x) {
  return with_ends_of_log(x, like(x, 0), log_of(mantissa_of_any(x), like(x, 0)));
}

/// ln(1 + x). Less than 1.5 ulp off.
template <class N>
HOM_MATH N log1p(const N& x) {
  const N one = like(x, 1);
  const N sum = one + x;
  // What the sum has lost, relative to it.
  const N lost = select(x < one, x - (sum - one), one - (sum - x)) / sum;
  const N result = with_ends_of_log(x, like(x, -1), log_of(mantissa_of(sum), lost));
  const auto is_tiny = abs(x) < like(x, pick<N>(0x1p-25f, 0x1p-54));
  return select(is_tiny, x, result);
}

/// Less than 3 ulp off.
template <class N>
HOM_MATH N asinh(const N& x) {
  const N size = abs(x);
  const N one = like(x, 1);
  // ln(x + √(x² + 1)) = log1p(x + x²/(1 + √(x² + 1))); beyond, ln 2x.
  const auto is_large = size > like(x, pick<N>(0x1p13f, 0x1p28));
  const N inside = select(is_large, one, size);
  const N square = inside * inside;
  const N moderate = inside + square / (one + sqrt(square + one));
  const N result = log1p(select(is_large, size - one, moderate));
  const N log2 = like(x, 0x1.62e42fefa39efp-1);
  return copysign(select(is_large, result + log2, result), x);
}

/// Less than 3 ulp off.
template <class N>
HOM_MATH N acosh(const N& x) {
  const N one = like(x, 1);
  const auto is_large = x > like(x, pick<N>(0x1p13f, 0x1p28));
  const N t = select(is_large, one, x) - one;
  const N moderate = t + sqrt(fma(t, t, t + t));
  const N result = log1p(select(is_large, x - one, moderate));
  const N log2 = like(x, 0x1.62e42fefa39efp-1);
  return select(x < one, like(x, not_a_number<N>), select(is_large, result + log2, result));
}

/// Less than 3 ulp off.
template <class N>
HOM_MATH N atanh(const N& x) {
  const N size = abs(x);
  const N one = like(x, 1);
  const N twice = size + size;
  // ½·ln(1 + 2x/(1 − x)), where 1 − x is exact from ½ on.
  const N ratio =
      select(size < like(x, 0.5), twice + twice * size / (one - size), twice / (one - size));
  return copysign(like(x, 0.5) * log1p(ratio), x);
}

}  // namespace hom::math
