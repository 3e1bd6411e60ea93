// backends/math/power.h -- xʸ, and the remainder
//
// xʸ = e^(y·ln x) with ln x in two parts, good for about 13 bits more than a number has: an
// exponent of up to 745 then keeps all digits of the result.
#pragma once

#include <hom/backends/math/logarithm.h>

namespace hom::math {

/// ln(2ⁿ·(1 + f)), as log_of but with s, s² and the first two terms of the series in two parts.
template <class N>
HOM_MATH Pair<N> log_in_two(const Mantissa<N>& x) {
  // The high part has so many zeros at its end that n times it is exact.
  constexpr double log2_high = pick<N>(0x1.62ep-1f, 0x1.62e42fefa38p-1);
  constexpr double log2_low = pick<N>(0x1.0bfbe8p-15f, 0x1.ef35793c7673p-45);
  constexpr double third_high = pick<N>(0x1.555556p-1f, 0x1.5555555555555p-1);
  constexpr double third_low = pick<N>(-0x1.555556p-26f, 0x1.5555555555555p-55);
  const N zero = like(x.f, 0);
  const Pair<N> bottom = fast_sum(like(x.f, 2), x.f);
  const N inverse = like(x.f, 1) / bottom.high;
  const N s = x.f * inverse;
  const N s_low = (fma(zero - s, bottom.high, x.f) - s * bottom.low) * inverse;
  const Pair<N> square = exact_product(s, s);
  const N z = square.high;
  const N z_low = fma(s + s, s_low, square.low);
  // 2/3 + 2z/5 + …
  const N terms = z * polynomial(z, coefficients::log_rest2_f32, coefficients::log_rest2_f64);
  const Pair<N> b = fast_sum(like(x.f, third_high), terms);
  const N b_low = b.low + like(x.f, third_low);
  const Pair<N> u = exact_product(z, b.high);
  const N u_low = u.low + fma(z, b_low, z_low * b.high);
  const Pair<N> w = exact_product(s, u.high);
  const N w_low = w.low + fma(s, u_low, s_low * u.high);
  const Pair<N> first = fast_sum(x.n * like(x.f, log2_high), s + s);
  const Pair<N> sum = fast_sum(first.high, w.high);
  const N low = (sum.low + first.low) + fma(x.n, like(x.f, log2_low), (s_low + s_low) + w_low);
  return fast_sum(sum.high, low);
}

/// e^(high + low), where the low part is much smaller; NaN stays.
template <class N>
HOM_MATH N exp_of_pair(const N& high, const N& low) {
  const N inside = clamped(high, pick<N>(-110.0f, -760.0), pick<N>(95.0f, 720.0));
  const ReducedExponent<N> of = reduced_exponent(inside, select(inside == high, low, like(low, 0)));
  return scaled_by_power(like(high, 1) + of.expm1, of.n);
}

/// As std::pow: 1 where x is 1 or y is 0, NaN for negative x unless y is an integer. Less than 1
/// ulp off.
template <class N>
HOM_MATH N pow(const N& x, const N& y) {
  const N zero = like(x, 0);
  const N one = like(x, 1);
  const N size = abs(x);
  const Pair<N> log = log_in_two(mantissa_of_any(size));
  const auto is_inside = (size > zero) & (size < like(x, infinity<N>));
  const N log_at_end = select(size == zero, like(x, -infinity<N>), size);
  const N log_high = select(is_inside, log.high, log_at_end);
  const N log_low = select(is_inside, log.low, zero);
  // Beyond, all powers but those of 1 are 0 or infinite.
  const N exponent = clamped(y, pick<N>(-0x1p60f, -0x1p100), pick<N>(0x1p60f, 0x1p100));
  const N high = exponent * log_high;
  const N low = fma(exponent, log_low, fma(exponent, log_high, zero - high));
  const N power = exp_of_pair(high, low);

  // Adding 2^52 rounds y to an integer; from there on it is one, odd where its last bit says so.
  const N unit = like(x, is_f64<N> ? 0x1p52 : 0x1p23);
  const N y_size = abs(y);
  const auto is_small = y_size < unit;
  const N shifted = select(is_small, y_size + unit, y_size);
  const auto is_integer = select(is_small, shifted - unit, y_size) == y_size;
  const auto is_even = is_zero(bits(shifted) & bits_like(x, 1));
  const auto may_be_odd = is_integer & (y_size < unit + unit) & (copysign(one, x) < zero);
  const N signed_power =
      select(may_be_odd, select(is_even, power, copysign(power, like(x, -1))), power);
  const auto has_no_sign = (x < zero) & (size < like(x, infinity<N>));
  const N real =
      select(is_integer, signed_power, select(has_no_sign, like(x, not_a_number<N>), signed_power));
  return select((y == zero) | (x == one), one, real);
}

/// a − b·⌊a/b⌋ with the sign of b, as the functor `Rem` has it. Exact but for one sum.
template <class N>
HOM_MATH N rem(const N& a, const N& b) {
  const N zero = like(a, 0);
  const N ratio = a / b;
  const N limit = like(a, is_f64<N> ? 0x1p51 : 0x1p22);
  const auto is_near = abs(ratio) < limit;
  const N quotient = nearest(ratio);
  // Exact, for it is not larger than ¾·b. Of infinite b it is a.
  const N rest = select(quotient == zero, a, fma(zero - quotient, b, a));
  const auto is_other_side = ((rest < zero) & (b > zero)) | ((rest > zero) & (b < zero));
  const N inside = select(is_other_side, rest + b, rest);
  const N result = select(rest == zero, copysign(zero, b), inside);
  return select(is_near, result, rarely(!is_near, Rare::rem, a, b));
}

}  // namespace hom::math
