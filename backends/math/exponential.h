// backends/math/exponential.h -- eˣ and what is made of it
//
// x = n·ln 2 + r with |r| ≤ ln 2/2, and eʳ = 1 + r + r²·q(r).
#pragma once

#include <hom/backends/math/coefficients.h>
#include <hom/backends/math/number.h>

namespace hom::math {

template <class N>
struct ReducedExponent {
  /// An integer.
  N n;
  /// eʳ − 1
  N expm1;
};

/// Of n·ln 2 + r.
template <class N>
HOM_MATH ReducedExponent<N> exponent_of(const N& n, const N& r) {
  const N q = polynomial(r, coefficients::exp_rest_f32, coefficients::exp_rest_f64);
  return {n, fma(r * r, q, r)};
}

template <class N>
inline constexpr double log2_high = pick<N>(0x1.62e43p-1f, 0x1.62e42fefa39efp-1);
template <class N>
inline constexpr double log2_low = pick<N>(-0x1.05c61p-29f, 0x1.abc9e3b39803fp-56);
/// The integer next to x/ln 2.
template <class N>
HOM_MATH N nearest_power(const N& x) {
  return nearest(x * like(x, pick<N>(0x1.715476p+0f, 0x1.71547652b82fep+0)));
}

/// |x| < 2^20.
template <class N>
HOM_MATH ReducedExponent<N> reduced_exponent(const N& x) {
  const N n = nearest_power(x);
  const N near = fma(n, like(x, -log2_high<N>), x);
  return exponent_of(n, fma(n, like(x, -log2_low<N>), near));
}
/// The same of x + low, where the low part is much smaller.
template <class N>
HOM_MATH ReducedExponent<N> reduced_exponent(const N& x, const N& low) {
  const N n = nearest_power(x);
  const N near = fma(n, like(x, -log2_high<N>), x);
  return exponent_of(n, near + fma(n, like(x, -log2_low<N>), low));
}

/// eˣ where the result is a normal number.
template <class N>
HOM_MATH N normal_exp(const N& x) {
  const ReducedExponent<N> of = reduced_exponent(x);
  return (like(x, 1) + of.expm1) * power_of_two(of.n);
}

/// x·2ⁿ for an integer |n| < 2·bias, rounded once where x is from ½ to 2.
template <class N>
HOM_MATH N scaled_by_power(const N& x, const N& n) {
  const N half = nearest(n * like(x, 0.5));
  return x * power_of_two(half) * power_of_two(n - half);
}

/// Within low … high; NaN stays.
template <class N>
HOM_MATH N clamped(const N& x, double low, double high) {
  const N not_high = select(x > like(x, high), like(x, high), x);
  return select(not_high < like(x, low), like(x, low), not_high);
}

/// Less than 1 ulp off.
template <class N>
HOM_MATH N exp(const N& x) {
  const N inside = clamped(x, pick<N>(-105.0f, -747.0), pick<N>(90.0f, 711.0));
  const ReducedExponent<N> of = reduced_exponent(inside);
  return scaled_by_power(like(x, 1) + of.expm1, of.n);
}

/// eˣ − 1. Less than 1.5 ulp off.
template <class N>
HOM_MATH N expm1(const N& x) {
  const N inside = clamped(x, pick<N>(-20.0f, -50.0), pick<N>(89.0f, 710.0));
  const ReducedExponent<N> of = reduced_exponent(inside);
  // Half of it, which overflows later than 2ⁿ does.
  const N power = power_of_two(of.n - like(x, 1));
  const N half = fma(of.expm1, power, power - like(x, 0.5));
  const auto is_tiny = abs(x) < like(x, pick<N>(0x1p-25f, 0x1p-54));
  return select(is_tiny, x, half + half);
}

/// eˣ in two parts, where that is not subnormal.
template <class N>
HOM_MATH Pair<N> exp_in_two(const N& x) {
  const N inside = clamped(x, pick<N>(-105.0f, -747.0), pick<N>(90.0f, 711.0));
  const ReducedExponent<N> of = reduced_exponent(inside);
  const Pair<N> sum = fast_sum(like(x, 1), of.expm1);
  const N half = nearest(of.n * like(x, 0.5));
  const N first = power_of_two(half);
  const N second = power_of_two(of.n - half);
  return {sum.high * first * second, sum.low * first * second};
}

/// 1/(1 + e⁻ˣ). Less than 1.5 ulp off.
template <class N>
HOM_MATH N logistic(const N& x) {
  const N zero = like(x, 0);
  const N one = like(x, 1);
  const Pair<N> e = exp_in_two(zero - abs(x));
  const Pair<N> sum = fast_sum(one, e.high);
  const auto is_right = x >= zero;
  const N top = select(is_right, one, e.high);
  const N inverse = one / sum.high;
  const N ratio = top * inverse;
  // What the ratio leaves of the numerator.
  const N top_low = select(is_right, zero, e.low);
  const N rest = fma(zero - ratio, sum.low + e.low, top_low) + fma(zero - ratio, sum.high, top);
  return fma(rest, inverse, ratio);
}

/// Less than 1.5 ulp off.
template <class N>
HOM_MATH N tanh(const N& x) {
  const N size = abs(x);
  const N square = x * x;
  const N rest = polynomial(square, coefficients::tanh_rest_f32, coefficients::tanh_rest_f64);
  const N small = fma(size * square, rest, size);
  const N most = like(x, pick<N>(10.0f, 20.0));
  const N inside = select(size > most, most, size);
  const N power = normal_exp(inside + inside);
  const N one = like(x, 1);
  const N large = one - like(x, 2) / (power + one);
  return copysign(select(size < like(x, 0.625), small, large), x);
}

/// Less than 3 ulp off.
template <class N>
HOM_MATH N sinh(const N& x) {
  const N size = abs(x);
  // Beyond, e⁻ˣ does not count, and eˣ may overflow where half of it does not.
  const auto is_large = size > like(x, pick<N>(20.0f, 40.0));
  const N t = expm1(select(is_large, like(x, 1), size));
  const N moderate = like(x, 0.5) * (t + t / (t + like(x, 1)));
  const N half = exp(size * like(x, 0.5));
  const N large = (half * like(x, 0.5)) * half;
  const N tiny = like(x, pick<N>(0x1p-13f, 0x1p-28));
  return select(size < tiny, x, copysign(select(is_large, large, moderate), x));
}

/// Less than 3 ulp off.
template <class N>
HOM_MATH N cosh(const N& x) {
  const N size = abs(x);
  const N half = exp(size * like(x, 0.5));
  const auto is_large = size > like(x, pick<N>(20.0f, 40.0));
  const N large = (half * like(x, 0.5)) * half;
  const N power = exp(select(is_large, like(x, 1), size));
  const N moderate = like(x, 0.5) * power + like(x, 0.5) / power;
  return select(is_large, large, moderate);
}

}  // namespace hom::math
