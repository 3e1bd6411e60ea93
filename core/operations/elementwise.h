// core/operations/elementwise.h -- functions of one element at a time, with NumPy's broadcasting
//
// Operands of two or more promote to one dtype (`promote`, `promote_weak`) and broadcast to one
// shape; the error for shapes that do not fit names both. Functions on floats refuse integers
// instead of converting silently.
#pragma once

#include <hom/core/tensor.h>

namespace hom {

Tensor operator-(const Operand& x);
/// Elementwise negation: of a bool, logical; of an integer, bitwise.
Tensor operator~(const Operand& x);
/// The same. C++ leaves no room for its own line: errors name the one on which x was made. So do
/// `&&` and `||` with a C++ bool.
Tensor operator!(const Tensor& x);
Tensor operator+(const Operand& x, const Operand& y);
Tensor operator-(const Operand& x, const Operand& y);
Tensor operator*(const Operand& x, const Operand& y);
/// Division; of integers, floor division with x/0 = 0.
Tensor operator/(const Operand& x, const Operand& y);
/// Remainder with the sign of the divisor (floats too); of integers, x % 0 = x.
Tensor operator%(const Operand& x, const Operand& y);
Tensor operator==(const Operand& x, const Operand& y);
Tensor operator!=(const Operand& x, const Operand& y);
Tensor operator<(const Operand& x, const Operand& y);
Tensor operator<=(const Operand& x, const Operand& y);
Tensor operator>(const Operand& x, const Operand& y);
Tensor operator>=(const Operand& x, const Operand& y);
/// Logical on bool, bitwise on integers; `&&` and `||` are for bool.
Tensor operator&(const Operand& x, const Operand& y);
Tensor operator|(const Operand& x, const Operand& y);
Tensor operator^(const Operand& x, const Operand& y);
Tensor operator&&(const Tensor& x, const Operand& y);
Tensor operator||(const Tensor& x, const Operand& y);
// Exact matches for bool, against the built-in operators.
template <std::same_as<bool> B>
Tensor operator&&(const Tensor& x, B y) {
  return x && Operand(y, x.location());
}
template <std::same_as<bool> B>
Tensor operator||(const Tensor& x, B y) {
  return x || Operand(y, x.location());
}
template <std::same_as<bool> B>
Tensor operator&&(B x, const Tensor& y) {
  return y && x;
}
template <std::same_as<bool> B>
Tensor operator||(B x, const Tensor& y) {
  return y || x;
}
/// A shift by the width or more gives 0 (arithmetic right shift: the sign).
Tensor operator<<(const Operand& x, const Operand& y);
Tensor operator>>(const Operand& x, const Operand& y);

/// x = x % y and so on; x becomes a new tensor, and copies of it stay as they are.
Tensor& operator%=(Tensor& x, const Operand& y);
Tensor& operator&=(Tensor& x, const Operand& y);
Tensor& operator|=(Tensor& x, const Operand& y);
Tensor& operator^=(Tensor& x, const Operand& y);

/// |x|; the derivative at 0 is 0.
Tensor abs(const Operand& x);
/// −1, 0 or 1; NaN stays NaN; the derivative is 0.
Tensor sign(const Operand& x);
/// To the nearest integer, ties to even; the derivative is 0, as of floor and ceil.
Tensor round(const Operand& x);
Tensor floor(const Operand& x);
Tensor ceil(const Operand& x);
Tensor sqrt(const Operand& x);
/// 1/√x
Tensor rsqrt(const Operand& x);
Tensor exp(const Operand& x);
/// eˣ − 1, accurate near 0
Tensor expm1(const Operand& x);
Tensor log(const Operand& x);
/// log(1 + x), accurate near 0
Tensor log1p(const Operand& x);
/// The logarithm to base 2 (10) as a quotient of natural ones: within 2 units in the last place,
/// and so not always whole at powers of the base.
Tensor log2(const Operand& x);
Tensor log10(const Operand& x);
Tensor sin(const Operand& x);
Tensor cos(const Operand& x);
Tensor tan(const Operand& x);
Tensor asin(const Operand& x);
Tensor acos(const Operand& x);
Tensor atan(const Operand& x);
Tensor sinh(const Operand& x);
Tensor cosh(const Operand& x);
Tensor tanh(const Operand& x);
Tensor asinh(const Operand& x);
Tensor acosh(const Operand& x);
Tensor atanh(const Operand& x);
/// 1/(1 + e⁻ˣ)
Tensor logistic(const Operand& x);
Tensor erf(const Operand& x);
/// bool: neither infinite nor NaN
Tensor is_finite(const Operand& x);
Tensor is_nan(const Operand& x);
/// bool: +∞ or −∞; takes floats
Tensor is_inf(const Operand& x);

/// xʸ; 0⁰ = 1. The derivative in x of x² at 0 is 0; in y it is 0 where x = 0 < y. Integers wrap and
/// refuse negative y.
Tensor pow(const Operand& x, const Operand& y);
/// The larger of two; NaN wins. The gradient of a tie is shared equally. (`max` is the reduction.)
Tensor maximum(const Operand& x, const Operand& y);
Tensor minimum(const Operand& x, const Operand& y);
/// The angle of the point (x, y), in radians.
Tensor atan2(const Operand& y, const Operand& x);
/// coefficient · tangent, but 0 wherever either is exactly zero, so that an infinite coefficient of
/// a branch not taken cannot poison a gradient. Bilinear; derivatives multiply by it.
Tensor scale(const Operand& coefficient, const Operand& tangent);

/// a where the condition holds, b elsewhere. The gradient of the branch not taken is 0, whatever it
/// holds.
Tensor where(const Operand& condition, const Operand& a, const Operand& b);
/// x limited to low … high; its slope is 1 at both bounds.
Tensor clamp(const Operand& x, const Operand& low, const Operand& high);

/// Elements as another dtype: float → integer truncates, saturates, and takes NaN to 0; integers
/// wrap.
Tensor convert(const Operand& x, Dtype dtype);
/// The same bits read as another dtype of the same size.
Tensor bitcast(const Operand& x, Dtype dtype);

/// x, whose derivative is taken to be 0.
Tensor stop_gradient(const Operand& x);

}  // namespace hom
