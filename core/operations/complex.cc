// core/operations/complex.cc -- arithmetic of pairs {re, im}
#include <hom/core/operations/complex.h>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/functions.h>

namespace hom {
namespace {

const Location& line_of(const Complex& x) { return LocationScope::current(x.re.location()); }

}  // namespace

Complex operator-(const Complex& x) {
  const LocationScope line(line_of(x));
  const Tensor re = -x.re;
  return {re, -x.im};
}
Complex operator+(const Complex& x, const Complex& y) {
  const LocationScope line(line_of(y));
  const Tensor re = x.re + y.re;
  return {re, x.im + y.im};
}
Complex operator-(const Complex& x, const Complex& y) {
  const LocationScope line(line_of(y));
  const Tensor re = x.re - y.re;
  return {re, x.im - y.im};
}
Complex operator*(const Complex& x, const Complex& y) {
  const LocationScope line(line_of(y));
  const Tensor both_re = x.re * y.re;
  const Tensor both_im = x.im * y.im;
  const Tensor re_im = x.re * y.im;
  const Tensor im_re = x.im * y.re;
  const Tensor re = both_re - both_im;
  return {re, re_im + im_re};
}
Complex operator/(const Complex& x, const Complex& y) {
  const LocationScope line(line_of(y));
  const Tensor square = abs_squared(y);
  const Complex product = x * conj(y);
  return product / Operand(square, line_of(y));
}
Complex operator*(const Complex& x, const Operand& factor) {
  const LocationScope line(LocationScope::current(factor.at()));
  const Tensor re = x.re * factor;
  return {re, x.im * factor};
}
Complex operator*(const Operand& factor, const Complex& x) { return x * factor; }
Complex operator/(const Complex& x, const Operand& divisor) {
  const LocationScope line(LocationScope::current(divisor.at()));
  const Tensor re = x.re / divisor;
  return {re, x.im / divisor};
}

Complex conj(const Complex& x) {
  const LocationScope line(line_of(x));
  return {x.re, -x.im};
}
Tensor abs(const Complex& x) {
  const LocationScope line(line_of(x));
  return hypot(x.re, x.im);
}
Tensor abs_squared(const Complex& x) {
  const LocationScope line(line_of(x));
  const Tensor re = x.re * x.re;
  const Tensor im = x.im * x.im;
  return re + im;
}
Tensor angle(const Complex& x) {
  const LocationScope line(line_of(x));
  return atan2(x.im, x.re);
}
Complex exp(const Complex& x) {
  const LocationScope line(line_of(x));
  const Tensor size = exp(x.re);
  const Tensor re = size * cos(x.im);
  return {re, size * sin(x.im)};
}

}  // namespace hom
