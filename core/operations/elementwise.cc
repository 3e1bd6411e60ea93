// core/operations/elementwise.cc -- elementwise functions: promotion, broadcasting, one step
#include <hom/core/operations/elementwise.h>

#include <limits>
#include <numbers>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

Tensor unary(const Primitive& p, const Operand& x) { return apply_one(p, {}, {x.value()}, x.at()); }

Tensor binary(const Primitive& p, const Operand& x, const Operand& y) {
  const auto [a, b] = harmonise<2>(p.name, {&x, &y}, y.at());
  return apply_one(p, {}, {a, b}, y.at());
}

}  // namespace

Tensor operator-(const Operand& x) {
  static const Primitive& p = primitive("neg");
  return unary(p, x);
}
Tensor operator~(const Operand& x) {
  static const Primitive& p = primitive("not");
  return unary(p, x);
}
Tensor operator!(const Tensor& x) { return ~Operand(x, x.location()); }
Tensor operator+(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("add");
  return binary(p, x, y);
}
Tensor operator-(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("sub");
  return binary(p, x, y);
}
Tensor operator*(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("mul");
  return binary(p, x, y);
}
Tensor operator/(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("div");
  return binary(p, x, y);
}
Tensor operator%(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("rem");
  return binary(p, x, y);
}
Tensor operator==(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("eq");
  return binary(p, x, y);
}
Tensor operator!=(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("ne");
  return binary(p, x, y);
}
Tensor operator<(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("lt");
  return binary(p, x, y);
}
Tensor operator<=(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("le");
  return binary(p, x, y);
}
Tensor operator>(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("gt");
  return binary(p, x, y);
}
Tensor operator>=(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("ge");
  return binary(p, x, y);
}
Tensor operator&(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("and");
  return binary(p, x, y);
}
Tensor operator|(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("or");
  return binary(p, x, y);
}
Tensor operator^(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("xor");
  return binary(p, x, y);
}
Tensor operator<<(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("shift_left");
  return binary(p, x, y);
}
Tensor operator>>(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("shift_right");
  return binary(p, x, y);
}

Tensor& operator%=(Tensor& x, const Operand& y) { return x = Operand(x, y.at()) % y; }
Tensor& operator&=(Tensor& x, const Operand& y) { return x = Operand(x, y.at()) & y; }
Tensor& operator|=(Tensor& x, const Operand& y) { return x = Operand(x, y.at()) | y; }
Tensor& operator^=(Tensor& x, const Operand& y) { return x = Operand(x, y.at()) ^ y; }

namespace {
Tensor logical(const char* name, const Operand& x, const Operand& y) {
  require(x.dtype().is_bool() && y.dtype().is_bool(), y.at(), [&] {
    return Complaint{std::string(name) + ": takes bool operands, got " + to_string(x.dtype()) +
                         " and " + to_string(y.dtype()),
                     "compare first, as in `x != 0`; & and | are the bitwise operations"};
  });
  return binary(primitive(name), x, y);
}
}  // namespace

Tensor operator&&(const Tensor& x, const Operand& y) {
  return logical("and", Operand(x, y.at()), y);
}
Tensor operator||(const Tensor& x, const Operand& y) {
  return logical("or", Operand(x, y.at()), y);
}

Tensor abs(const Operand& x) {
  static const Primitive& p = primitive("abs");
  return unary(p, x);
}
Tensor sign(const Operand& x) {
  static const Primitive& p = primitive("sign");
  return unary(p, x);
}
Tensor round(const Operand& x) {
  static const Primitive& p = primitive("round");
  return unary(p, x);
}
Tensor floor(const Operand& x) {
  static const Primitive& p = primitive("floor");
  return unary(p, x);
}
Tensor ceil(const Operand& x) {
  static const Primitive& p = primitive("ceil");
  return unary(p, x);
}
Tensor sqrt(const Operand& x) {
  static const Primitive& p = primitive("sqrt");
  return unary(p, x);
}
Tensor rsqrt(const Operand& x) {
  static const Primitive& p = primitive("rsqrt");
  return unary(p, x);
}
Tensor exp(const Operand& x) {
  static const Primitive& p = primitive("exp");
  return unary(p, x);
}
Tensor expm1(const Operand& x) {
  static const Primitive& p = primitive("expm1");
  return unary(p, x);
}
Tensor log(const Operand& x) {
  static const Primitive& p = primitive("log");
  return unary(p, x);
}
Tensor log1p(const Operand& x) {
  static const Primitive& p = primitive("log1p");
  return unary(p, x);
}
Tensor sin(const Operand& x) {
  static const Primitive& p = primitive("sin");
  return unary(p, x);
}
Tensor cos(const Operand& x) {
  static const Primitive& p = primitive("cos");
  return unary(p, x);
}
Tensor tan(const Operand& x) {
  static const Primitive& p = primitive("tan");
  return unary(p, x);
}
Tensor asin(const Operand& x) {
  static const Primitive& p = primitive("asin");
  return unary(p, x);
}
Tensor acos(const Operand& x) {
  static const Primitive& p = primitive("acos");
  return unary(p, x);
}
Tensor atan(const Operand& x) {
  static const Primitive& p = primitive("atan");
  return unary(p, x);
}
Tensor sinh(const Operand& x) {
  static const Primitive& p = primitive("sinh");
  return unary(p, x);
}
Tensor cosh(const Operand& x) {
  static const Primitive& p = primitive("cosh");
  return unary(p, x);
}
Tensor tanh(const Operand& x) {
  static const Primitive& p = primitive("tanh");
  return unary(p, x);
}
Tensor asinh(const Operand& x) {
  static const Primitive& p = primitive("asinh");
  return unary(p, x);
}
Tensor acosh(const Operand& x) {
  static const Primitive& p = primitive("acosh");
  return unary(p, x);
}
Tensor atanh(const Operand& x) {
  static const Primitive& p = primitive("atanh");
  return unary(p, x);
}
Tensor logistic(const Operand& x) {
  static const Primitive& p = primitive("logistic");
  return unary(p, x);
}
Tensor erf(const Operand& x) {
  static const Primitive& p = primitive("erf");
  return unary(p, x);
}
Tensor is_finite(const Operand& x) {
  static const Primitive& p = primitive("is_finite");
  return unary(p, x);
}
Tensor stop_gradient(const Operand& x) {
  static const Primitive& p = primitive("stop_gradient");
  return unary(p, x);
}
Tensor is_nan(const Operand& x) { return x != x; }
Tensor is_inf(const Operand& x) {
  require_float("is_inf", x);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return Operand(abs(x), x.at()) == Operand(infinity, x.at());
}

namespace {
Tensor log_to_base(const char* operation, double log_of_base, const Operand& x) {
  require_float(operation, x);
  const Tensor natural = log(Operand(widened(x), x.at()));
  const Tensor quotient = Operand(natural, x.at()) / Operand(log_of_base, x.at());
  return convert(Operand(quotient, x.at()), x.dtype());
}
}  // namespace

Tensor log2(const Operand& x) { return log_to_base("log2", std::numbers::ln2, x); }
Tensor log10(const Operand& x) { return log_to_base("log10", std::numbers::ln10, x); }

Tensor pow(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("pow");
  return binary(p, x, y);
}
Tensor maximum(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("max");
  return binary(p, x, y);
}
Tensor minimum(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("min");
  return binary(p, x, y);
}
Tensor scale(const Operand& x, const Operand& y) {
  static const Primitive& p = primitive("scale");
  return binary(p, x, y);
}
Tensor atan2(const Operand& y, const Operand& x) {
  static const Primitive& p = primitive("atan2");
  return binary(p, y, x);
}

Tensor where(const Operand& condition, const Operand& a, const Operand& b) {
  static const Primitive& p = primitive("select");
  require(condition.dtype().is_bool(), condition.at(), [&] {
    return Complaint{"where: the condition is " + to_string(condition.dtype()) + ", not bool",
                     "compare first, as in `x != 0`"};
  });
  const auto [x, y] = harmonise<2>("where", {&a, &b}, b.at());
  const Shape shape =
      broadcast_shapes("where", {condition.value().type(condition.at()), x.type(a.at())}, b.at());
  return apply_one(p, {},
                   {broadcast_to(condition, shape), broadcast_to(x, shape), broadcast_to(y, shape)},
                   b.at());
}

Tensor clamp(const Operand& x, const Operand& low, const Operand& high) {
  // By selection rather than by min and max, whose ties would halve the slope at the bounds.
  const LocationScope line(LocationScope::current(x.at()));
  const auto [value, lower, upper] = harmonise<3>("clamp", {&x, &low, &high}, x.at());
  return where(value < lower, lower, where(value > upper, upper, value));
}

Tensor convert(const Operand& x, Dtype dtype) {
  static const Primitive& p = primitive("convert");
  if (x.dtype() == dtype) return x.value();
  return apply_one(p, {{"dtype", {dtype}}}, {x.value()}, x.at());
}

Tensor bitcast(const Operand& x, Dtype dtype) {
  static const Primitive& p = primitive("bitcast");
  return apply_one(p, {{"dtype", {dtype}}}, {x.value()}, x.at());
}

Tensor Tensor::astype(Dtype dtype, const Location& at) const {
  return convert(Operand(*this, at), dtype);
}
Tensor& Tensor::operator+=(const Operand& other) & {
  return *this = Operand(*this, other.at()) + other;
}
Tensor& Tensor::operator-=(const Operand& other) & {
  return *this = Operand(*this, other.at()) - other;
}
Tensor& Tensor::operator*=(const Operand& other) & {
  return *this = Operand(*this, other.at()) * other;
}
Tensor& Tensor::operator/=(const Operand& other) & {
  return *this = Operand(*this, other.at()) / other;
}

}  // namespace hom
