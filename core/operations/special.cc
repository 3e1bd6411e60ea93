// core/operations/special.cc -- special functions
#include <hom/core/operations/special.h>

#include <numbers>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>

namespace hom {
namespace {

Tensor unary(const Primitive& p, const Operand& x) { return apply_one(p, {}, {x.value()}, x.at()); }

constexpr double half_root = 1 / std::numbers::sqrt2;

}  // namespace

Tensor lgamma(const Operand& x) {
  static const Primitive& p = primitive("lgamma");
  return unary(p, x);
}
Tensor digamma(const Operand& x) { return polygamma(0, x); }
Tensor polygamma(std::int64_t n, const Operand& x) {
  static const Primitive& p = primitive("polygamma");
  return apply_one(p, {{"n", {n}}}, {x.value()}, x.at());
}
Tensor log_gamma_slope(std::int64_t k, const Operand& alpha, const Operand& t) {
  static const Primitive& p = primitive("log_gamma_slope");
  const auto [a, x] = harmonise<2>(p.name, {&alpha, &t}, t.at());
  return apply_one(p, {{"k", {k}}}, {a, x}, t.at());
}
Tensor erfc(const Operand& x) {
  static const Primitive& p = primitive("erfc");
  return unary(p, x);
}
Tensor erfcx(const Operand& x) {
  static const Primitive& p = primitive("erfcx");
  return unary(p, x);
}
Tensor erf_inv(const Operand& x) {
  static const Primitive& p = primitive("erf_inv");
  return unary(p, x);
}
Tensor erfc_inv(const Operand& x) {
  static const Primitive& p = primitive("erfc_inv");
  return unary(p, x);
}

Tensor ndtr(const Operand& x) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("ndtr", x);
  return 0.5 * erfc(x * -half_root);
}

Tensor log_ndtr(const Operand& x) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("log_ndtr", x);
  // Each side is computed of arguments of its own only.
  const Tensor value = x.value();
  const Tensor lower = value < -1;
  const Tensor left = where(lower, value, -1);
  const Tensor right = where(lower, 0, value);
  const Tensor of_left = log(0.5 * erfcx(left * -half_root)) - 0.5 * (left * left);
  return where(lower, of_left, log1p(-0.5 * erfc(right * half_root)));
}

Tensor ndtri(const Operand& p) {
  const LocationScope line(LocationScope::current(p.at()));
  require_float("ndtri", p);
  return -std::numbers::sqrt2 * erfc_inv(2 * p);
}

}  // namespace hom
