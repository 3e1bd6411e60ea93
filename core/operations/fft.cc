// core/operations/fft.cc -- Fourier transforms
#include <hom/core/operations/fft.h>

#include <cmath>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

Complex transformed(const char* operation, const Complex& x, std::int64_t axis, bool inverse,
                    Norm norm, const Location& at) {
  static const Primitive& p = primitive("fft");
  const LocationScope line(LocationScope::current(at));
  const Operand given_re(x.re, at);
  const Operand given_im(x.im, at);
  const auto [re, im] = harmonise<2>(operation, {&given_re, &given_im}, at);
  const std::int64_t along = normal_axis(operation, axis, re.rank(), at);
  const auto n = static_cast<double>(re.shape()[static_cast<std::size_t>(along)]);
  const TensorList y =
      apply(p, {{"axis", {along}}, {"inverse", {inverse}}}, std::vector{re, im}, at);
  const Complex result{y[0], y[1]};
  if (norm == Norm::ortho) return result * (1 / std::sqrt(n));
  return (norm == Norm::backward) == inverse ? result * (1 / n) : result;
}

Complex with_zeros(const char* operation, const Operand& x) {
  require_float(operation, x);
  return {x.value(), zeros_like(x)};
}

Complex along_axes(const char* operation, Complex x, const Axes& axes, bool inverse, Norm norm,
                   const Location& at) {
  const std::int64_t rank = x.re.rank(at);
  const Shape list = axes.list ? normal_axes(operation, *axes.list, rank, at)
                               : iota_shape(static_cast<std::size_t>(rank));
  for (std::int64_t axis : list) x = transformed(operation, x, axis, inverse, norm, at);
  return x;
}

/// Elements start … start + size − 1 along an axis.
Tensor part(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t size) {
  Shape starts(x.shape().size(), 0);
  Shape sizes = x.shape();
  starts[static_cast<std::size_t>(axis)] = start;
  sizes[static_cast<std::size_t>(axis)] = size;
  return slice(x, starts, sizes, Shape(sizes.size(), 1));
}

void require_length(const char* operation, std::int64_t n, const Location& at) {
  require(n >= 1, at, [&] {
    return Complaint{std::string(operation) + ": the length is " + std::to_string(n) +
                     ", and has to be positive"};
  });
}

/// Each of the axes rolled by half of its extent, rounded down (forward) or up.
Tensor shifted(const char* operation, const Operand& x, const Axes& axes, bool forward) {
  const LocationScope line(LocationScope::current(x.at()));
  Tensor y = x.value();
  const Shape list = axes.list ? normal_axes(operation, *axes.list, y.rank(), x.at())
                               : iota_shape(y.shape().size());
  for (std::int64_t axis : list) {
    const std::int64_t half = y.shape()[static_cast<std::size_t>(axis)] / 2;
    y = roll(y, forward ? half : -half, axis);
  }
  return y;
}

}  // namespace

Complex fft(const Complex& x, std::int64_t axis, Norm norm, const Location& at) {
  return transformed("fft", x, axis, false, norm, at);
}
Complex fft(const Operand& x, std::int64_t axis, Norm norm) {
  const LocationScope line(LocationScope::current(x.at()));
  return transformed("fft", with_zeros("fft", x), axis, false, norm, x.at());
}
Complex ifft(const Complex& y, std::int64_t axis, Norm norm, const Location& at) {
  return transformed("ifft", y, axis, true, norm, at);
}

Complex rfft(const Operand& x, std::int64_t axis, Norm norm) {
  const LocationScope line(LocationScope::current(x.at()));
  const std::int64_t along = normal_axis("rfft", axis, signed_size(x.shape()), x.at());
  const std::int64_t n = x.shape()[static_cast<std::size_t>(along)];
  require_length("rfft", n, x.at());
  const Complex y = transformed("rfft", with_zeros("rfft", x), along, false, norm, x.at());
  const Tensor re = part(y.re, along, 0, n / 2 + 1);
  return {re, part(y.im, along, 0, n / 2 + 1)};
}

Tensor irfft(const Complex& y, std::int64_t n, std::int64_t axis, Norm norm, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require_length("irfft", n, at);
  const TensorType type = y.re.type(at);
  const std::int64_t along = normal_axis("irfft", axis, type.rank(), at);
  const std::int64_t half = n / 2 + 1;
  require(type.shape[static_cast<std::size_t>(along)] == half, at, [&] {
    return Complaint{"irfft: a real tensor of length " + std::to_string(n) + " has " +
                         std::to_string(half) + " frequencies, got axis " + std::to_string(along) +
                         " of " + to_string(type),
                     "rfft gives as many; pad or slice others"};
  });
  // yₙ₋ₖ is the conjugate of yₖ.
  const auto rest = [&](const Tensor& t) { return flip(part(t, along, 1, n - half), {along}); };
  const Tensor re = concat({y.re, rest(y.re)}, along);
  const Tensor im = concat({y.im, -rest(y.im)}, along);
  return transformed("irfft", {re, im}, along, true, norm, at).re;
}

Complex fftn(const Complex& x, const Axes& axes, Norm norm, const Location& at) {
  return along_axes("fftn", x, axes, false, norm, at);
}
Complex ifftn(const Complex& y, const Axes& axes, Norm norm, const Location& at) {
  return along_axes("ifftn", y, axes, true, norm, at);
}
Complex fft2(const Complex& x, Norm norm, const Location& at) {
  return along_axes("fft2", x, {-2, -1}, false, norm, at);
}
Complex ifft2(const Complex& y, Norm norm, const Location& at) {
  return along_axes("ifft2", y, {-2, -1}, true, norm, at);
}

Tensor fftfreq(std::int64_t n, double spacing, Dtype dtype, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require_length("fftfreq", n, at);
  const Tensor k = arange(n, f64, at);
  const Tensor number = where(k < static_cast<double>((n + 1) / 2), k, k - static_cast<double>(n));
  return (number / (static_cast<double>(n) * spacing)).astype(dtype);
}
Tensor rfftfreq(std::int64_t n, double spacing, Dtype dtype, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require_length("rfftfreq", n, at);
  return (arange(n / 2 + 1, f64, at) / (static_cast<double>(n) * spacing)).astype(dtype);
}

Tensor fftshift(const Operand& x, const Axes& axes) { return shifted("fftshift", x, axes, true); }
Complex fftshift(const Complex& x, const Axes& axes) {
  const Tensor re = fftshift(Operand(x.re, x.re.location()), axes);
  return {re, fftshift(Operand(x.im, x.im.location()), axes)};
}
Tensor ifftshift(const Operand& x, const Axes& axes) {
  return shifted("ifftshift", x, axes, false);
}
Complex ifftshift(const Complex& x, const Axes& axes) {
  const Tensor re = ifftshift(Operand(x.re, x.re.location()), axes);
  return {re, ifftshift(Operand(x.im, x.im.location()), axes)};
}

}  // namespace hom
