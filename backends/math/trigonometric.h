// backends/math/trigonometric.h -- circular functions and their inverses
//
// x = n·π/2 + r with |r| ≤ π/4, π/2 in three parts (W. J. Cody and W. Waite, "Software Manual for
// the Elementary Functions", 1980), whose first product is exact. Beyond the reach of that the
// host's library is asked.
#pragma once

#include <hom/backends/math/coefficients.h>
#include <hom/backends/math/number.h>

namespace hom::math {

template <class N>
struct ReducedAngle {
  N high;
  N low;
  /// The integer n, as the low bits of an unsigned integer.
  decltype(bits(std::declval<N>())) quadrant;
};

template <class N>
inline constexpr double largest_angle = pick<N>(0x1p17f, 0x1p30);

template <class N>
HOM_MATH ReducedAngle<N> reduced_angle(const N& x) {
  constexpr double first = pick<N>(0x1.921fb6p+0f, 0x1.921fb54442d18p+0);
  constexpr double second = pick<N>(-0x1.777a5cp-25f, 0x1.1a62633145c07p-54);
  constexpr double third = pick<N>(-0x1.ee59dap-50f, -0x1.f1976b7ed8fbcp-110);
  const N shifted =
      x * like(x, pick<N>(0x1.45f306p-1f, 0x1.45f306dc9c883p-1)) + like(x, rounding<N>);
  const N n = shifted - like(x, rounding<N>);
  const N near = fma(n, like(x, -first), x);
  const N step = n * like(x, second);
  const N step_rest = fma(n, like(x, second), like(x, 0) - step);
  const N high = near - step;
  const N low = ((near - high) - step) - fma(n, like(x, third), step_rest);
  return {high, low, bits(shifted)};
}

/// In two parts.
template <class N>
HOM_MATH Pair<N> sin_parts(const ReducedAngle<N>& r) {
  const N z = r.high * r.high;
  const N p = polynomial(z, coefficients::sin_rest_f32, coefficients::sin_rest_f64);
  const N low = fma(r.low * z, like(z, -0.5), r.low);
  return {r.high, fma(r.high * z, p, low)};
}

template <class N>
HOM_MATH Pair<N> cos_parts(const ReducedAngle<N>& r) {
  const N z = r.high * r.high;
  const N p = polynomial(z, coefficients::cos_rest_f32, coefficients::cos_rest_f64);
  const N half = like(z, 0.5) * z;
  const N one = like(z, 1);
  const N high = one - half;
  const N rest = fma(z * z, p, (one - high) - half);
  return {high, fma(r.high, like(z, 0) - r.low, rest)};
}

template <class N>
HOM_MATH N sin_near_zero(const ReducedAngle<N>& r) {
  const Pair<N> parts = sin_parts(r);
  return parts.high + parts.low;
}
template <class N>
HOM_MATH N cos_near_zero(const ReducedAngle<N>& r) {
  const Pair<N> parts = cos_parts(r);
  return parts.high + parts.low;
}

/// The sign bit where the quadrant's bit `from` is set.
template <class N, class Quadrant>
HOM_MATH N negated_by(const N& x, const Quadrant& quadrant, int from) {
  const auto bit = quadrant & bits_like(x, std::uint64_t{1} << from);
  constexpr int sign = is_f64<N> ? 63 : 31;
  return number(x, bits(x) ^ shift_left(bit, sign - from));
}

/// Less than 1 ulp off.
template <class N>
HOM_MATH N sin(const N& x) {
  const ReducedAngle<N> r = reduced_angle(x);
  const auto is_even = is_zero(r.quadrant & bits_like(x, 1));
  const N size = select(is_even, sin_near_zero(r), cos_near_zero(r));
  const N result = negated_by(size, r.quadrant, 1);
  const auto is_far = abs(x) > like(x, largest_angle<N>);
  // Also for −0, of which the reduction makes 0.
  const N near = select(x == like(x, 0), x, result);
  return select(is_far, rarely(is_far, Rare::sin, x), near);
}

/// Less than 1 ulp off.
template <class N>
HOM_MATH N cos(const N& x) {
  const ReducedAngle<N> r = reduced_angle(x);
  const auto is_even = is_zero(r.quadrant & bits_like(x, 1));
  const N size = select(is_even, cos_near_zero(r), sin_near_zero(r));
  const N result = negated_by(size, r.quadrant + bits_like(x, 1), 1);
  const auto is_far = abs(x) > like(x, largest_angle<N>);
  return select(is_far, rarely(is_far, Rare::cos, x), result);
}

/// Less than 2 ulp off.
template <class N>
HOM_MATH N tan(const N& x) {
  const ReducedAngle<N> r = reduced_angle(x);
  const auto is_even = is_zero(r.quadrant & bits_like(x, 1));
  const Pair<N> sine = sin_parts(r);
  const Pair<N> cosine = cos_parts(r);
  const Pair<N> s = fast_sum(sine.high, sine.low);
  const Pair<N> c = fast_sum(cosine.high, cosine.low);
  const N top = select(is_even, s.high, c.high);
  const N bottom = select(is_even, c.high, s.high);
  const N ratio = top / bottom;
  const N minus = like(x, 0) - ratio;
  const N rest = fma(minus, bottom, top) +
                 fma(minus, select(is_even, c.low, s.low), select(is_even, s.low, c.low));
  const N result = negated_by(ratio + rest / bottom, r.quadrant, 0);
  const auto is_far = abs(x) > like(x, largest_angle<N>);
  const N near = select(x == like(x, 0), x, result);
  return select(is_far, rarely(is_far, Rare::tan, x), near);
}

// ---- inverses ----

/// atan(top/bottom) in two parts, for 0 ≤ top ≤ bottom, where 1/bottom is finite.
template <class N>
HOM_MATH Pair<N> atan_of_ratio(const N& top, const N& bottom) {
  constexpr double eighth = 0x1.a827999fcef32p-2;  // tan π/8
  constexpr double quarter = pick<N>(0x1.921fb6p-1f, 0x1.921fb54442d18p-1);
  constexpr double quarter_low = pick<N>(-0x1.777a5cp-26f, 0x1.1a62633145c07p-55);
  const N zero = like(top, 0);
  // atan(a/b) = π/4 + atan((a − b)/(a + b))
  const auto is_high = top > bottom * like(top, eighth);
  const Pair<N> a = fast_sum(select(is_high, zero - bottom, zero), top);
  const Pair<N> b = fast_sum(bottom, select(is_high, top, zero));
  const N inverse = like(top, 1) / b.high;
  const N t = a.high * inverse;
  // What the ratio leaves of the numerator.
  const N t_low = (fma(zero - t, b.high, a.high) + fma(zero - t, b.low, a.low)) * inverse;
  const N z = t * t;
  const N p = polynomial(z, coefficients::atan_rest_f32, coefficients::atan_rest_f64);
  const N rest = fma(t * z, p, fma(zero - z, t_low, t_low));
  const Pair<N> sum = fast_sum(select(is_high, like(top, quarter), zero), t);
  return {sum.high, sum.low + (rest + select(is_high, like(top, quarter_low), zero))};
}

/// Less than 1 ulp off.
template <class N>
HOM_MATH N atan(const N& x) {
  constexpr double half = pick<N>(0x1.921fb6p+0f, 0x1.921fb54442d18p+0);
  constexpr double half_low = pick<N>(-0x1.777a5cp-25f, 0x1.1a62633145c07p-54);
  const N size = abs(x);
  const N one = like(x, 1);
  const auto is_large = size > one;
  const auto is_infinite = size == like(x, infinity<N>);
  const N top = select(is_infinite, like(x, 0), select(is_large, one, size));
  const N bottom = select(is_large, select(is_infinite, one, size), one);
  const Pair<N> t = atan_of_ratio(top, bottom);
  const N turned = like(x, half) - (t.high - (like(x, half_low) - t.low));
  return copysign(select(is_large, turned, t.high + t.low), x);
}

/// The angle of the point (x, y), as IEEE 754 has it at zeros and infinities. Less than 1 ulp off.
template <class N>
HOM_MATH N atan2(const N& y, const N& x) {
  constexpr double pi = pick<N>(0x1.921fb6p+1f, 0x1.921fb54442d18p+1);
  constexpr double pi_low = pick<N>(-0x1.777a5cp-24f, 0x1.1a62633145c07p-53);
  const N ax = abs(x);
  const N ay = abs(y);
  const N zero = like(x, 0);
  const N one = like(x, 1);
  const auto is_steep = ay > ax;
  const N small = select(is_steep, ax, ay);
  const N large = select(is_steep, ay, ax);
  // 0/0 is 0 here, and ∞/∞ is 1. Elsewhere both are brought to where the inverse is normal.
  const auto is_infinite = large == like(x, infinity<N>);
  const auto is_end = is_infinite | (large == zero);
  const N up = select(large < like(x, pick<N>(0x1p-100f, 0x1p-900)),
                      like(x, pick<N>(0x1p80f, 0x1p200)), one);
  const N unit = select(large > like(x, pick<N>(0x1p120f, 0x1p1000)),
                        like(x, pick<N>(0x1p-20f, 0x1p-100)), up);
  const N at_end = select(is_infinite & (small == large), one, zero);
  const N top = select(is_end, at_end, small * unit);
  const Pair<N> t = atan_of_ratio(top, select(is_end, one, large * unit));
  const N from_axis = like(x, 0.5 * pi) - (t.high - (like(x, 0.5 * pi_low) - t.low));
  const N right = select(is_steep, from_axis, t.high + t.low);
  const N from_left_axis = like(x, 0.5 * pi) + (t.high + (like(x, 0.5 * pi_low) + t.low));
  const N from_left = like(x, pi) - (t.high - (like(x, pi_low) - t.low));
  const N left = select(is_steep, from_left_axis, from_left);
  const auto is_left = copysign(one, x) < zero;
  const N angle = copysign(select(is_left, left, right), y);
  const auto is_number = (x == x) & (y == y);
  return select(is_number, angle, x + y);
}

/// Less than 2 ulp off.
template <class N>
HOM_MATH N asin(const N& x) {
  constexpr double quarter = pick<N>(0x1.921fb6p-1f, 0x1.921fb54442d18p-1);
  constexpr double half_low = pick<N>(-0x1.777a5cp-25f, 0x1.1a62633145c07p-54);
  const N size = abs(x);
  const N half = like(x, 0.5);
  // asin x = π/2 − 2·asin √((1 − x)/2)
  const auto is_large = size > half;
  const N z = select(is_large, (like(x, 1) - size) * half, size * size);
  const N p = polynomial(z, coefficients::asin_rest_f32, coefficients::asin_rest_f64);
  const N root = sqrt(z);
  const N small = fma(size * z, p, size);
  // The root in two parts, so that the difference keeps all digits.
  const N root_low =
      select(root == like(x, 0), root, fma(root, like(x, 0) - root, z) / (root + root));
  const N low = like(x, half_low) - (root_low + root_low) - (root + root) * z * p;
  const N large = like(x, quarter) + (like(x, quarter) - (root + root) + low);
  return copysign(select(is_large, large, small), x);
}

/// Less than 2 ulp off.
template <class N>
HOM_MATH N acos(const N& x) {
  constexpr double half_pi = pick<N>(0x1.921fb6p+0f, 0x1.921fb54442d18p+0);
  constexpr double half_low = pick<N>(-0x1.777a5cp-25f, 0x1.1a62633145c07p-54);
  const N size = abs(x);
  const N half = like(x, 0.5);
  const auto is_large = size > half;
  const N z = select(is_large, (like(x, 1) - size) * half, size * size);
  const N p = polynomial(z, coefficients::asin_rest_f32, coefficients::asin_rest_f64);
  const N root = sqrt(z);
  const N root_low =
      select(root == like(x, 0), root, fma(root, like(x, 0) - root, z) / (root + root));
  // 2·asin of the root, or π less that; π/2 − asin x in the middle.
  const N rest = fma(root * z, p, root_low);
  const N near_one = (root + root) + (rest + rest);
  const N near_minus_one = like(x, half_pi) + (like(x, half_pi) - (root + root) +
                                               (like(x, 2 * half_low) - (rest + rest)));
  const N middle = like(x, half_pi) - (x - (like(x, half_low) - x * z * p));
  return select(is_large, select(x < like(x, 0), near_minus_one, near_one), middle);
}

}  // namespace hom::math
