// backends/cpu/fourier.cc -- fast Fourier transforms: stages of small factors, and chirps
#include <hom/backends/cpu/fourier.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace hom::cpu {
namespace {

constexpr std::size_t largest_factor = 61;

/// e^(−2πik/n) for k < n, by an angle of at most an eighth of the circle.
ComplexNumber root_of_unity(std::uint64_t k, std::uint64_t n) {
  // The angle k/n is octant/8 + rest/8n.
  const auto octant = static_cast<unsigned>(8 * k / n);
  const std::uint64_t rest = 8 * k - octant * n;
  const std::uint64_t part = octant % 2 == 0 ? rest : n - rest;
  const double angle = std::numbers::pi / 4 * (static_cast<double>(part) / static_cast<double>(n));
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  switch (octant) {
    case 0:
      return {c, -s};
    case 1:
      return {s, -c};
    case 2:
      return {-s, -c};
    case 3:
      return {-c, -s};
    case 4:
      return {-c, s};
    case 5:
      return {-s, c};
    case 6:
      return {s, c};
    default:
      return {c, s};
  }
}

ComplexNumber conjugate(ComplexNumber x) { return {x.re, -x.im}; }
/// −i·x
ComplexNumber turned(ComplexNumber x) { return {x.im, -x.re}; }

/// Fours first, then the primes in order; the last is what is left.
std::vector<std::size_t> factors_of(std::size_t n) {
  std::vector<std::size_t> factors;
  while (n % 4 == 0) {
    factors.push_back(4);
    n /= 4;
  }
  for (std::size_t p = 2; p * p <= n; ++p) {
    while (n % p == 0) {
      factors.push_back(p);
      n /= p;
    }
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

}  // namespace

FourierTransform::FourierTransform(std::int64_t n)
    : n_(static_cast<std::size_t>(n)), factors_(factors_of(n_)) {
  if (!factors_.empty() && factors_.back() > largest_factor) {
    const std::size_t length = std::bit_ceil(2 * n_ - 1);
    convolution_ = std::make_unique<FourierTransform>(static_cast<std::int64_t>(length));
    std::uint64_t square = 0;  // k² modulo 2n
    for (std::uint64_t k = 0; k < n_; ++k) {
      chirp_.push_back(root_of_unity(square, 2 * n_));
      square = (square + 2 * k + 1) % (2 * n_);
    }
    spectrum_.resize(length, {0, 0});
    for (std::size_t k = 0; k < n_; ++k) {
      spectrum_[k] = conjugate(chirp_[k]);
      if (k > 0) spectrum_[length - k] = conjugate(chirp_[k]);
    }
    std::vector<ComplexNumber> scratch;
    (*convolution_)(spectrum_, scratch);
    return;
  }
  for (std::size_t k = 0; k < n_; ++k) roots_.push_back(root_of_unity(k, n_));
}

void FourierTransform::operator()(std::vector<ComplexNumber>& x,
                                  std::vector<ComplexNumber>& scratch) const {
  if (convolution_) {
    by_chirp(x);
  } else {
    in_stages(x, scratch);
  }
}

void FourierTransform::stage(std::size_t p, std::size_t m, std::size_t s, const ComplexNumber* x,
                             ComplexNumber* y) const {
  std::vector<ComplexNumber> a(p);
  std::vector<ComplexNumber> b(p);
  for (std::size_t q = 0; q < m; ++q) {
    const ComplexNumber* from = x + s * q;
    ComplexNumber* to = y + s * p * q;
    for (std::size_t k = 0; k < s; ++k) {
      if (p == 2) {
        const ComplexNumber even = from[k];
        const ComplexNumber odd = from[k + s * m];
        to[k] = even + odd;
        to[k + s] = (even - odd) * roots_[q * s];
      } else if (p == 4) {
        const ComplexNumber x0 = from[k];
        const ComplexNumber x1 = from[k + s * m];
        const ComplexNumber x2 = from[k + 2 * s * m];
        const ComplexNumber x3 = from[k + 3 * s * m];
        const ComplexNumber even = x0 + x2;
        const ComplexNumber odd = x1 + x3;
        const ComplexNumber difference = x0 - x2;
        const ComplexNumber other = turned(x1 - x3);
        to[k] = even + odd;
        to[k + s] = (difference + other) * roots_[q * s];
        to[k + 2 * s] = (even - odd) * roots_[2 * q * s];
        to[k + 3 * s] = (difference - other) * roots_[3 * q * s];
      } else {
        for (std::size_t r = 0; r < p; ++r) a[r] = from[k + s * m * r];
        for (std::size_t t = 0; t < p; ++t) {
          b[t] = a[0];
          for (std::size_t r = 1; r < p; ++r) b[t] = b[t] + a[r] * roots_[r * t % p * (n_ / p)];
          to[k + s * t] = b[t] * roots_[q * t * s];
        }
      }
    }
  }
}

void FourierTransform::in_stages(std::vector<ComplexNumber>& x,
                                 std::vector<ComplexNumber>& scratch) const {
  scratch.resize(n_);
  std::size_t m = n_;
  std::size_t s = 1;
  for (std::size_t p : factors_) {
    m /= p;
    stage(p, m, s, x.data(), scratch.data());
    x.swap(scratch);
    s *= p;
  }
}

/// jk = (j² + k² − (k − j)²)/2, so that the sum is a convolution with the conjugate chirp.
void FourierTransform::by_chirp(std::vector<ComplexNumber>& x) const {
  std::vector<ComplexNumber> padded(spectrum_.size(), {0, 0});
  std::vector<ComplexNumber> scratch;
  for (std::size_t k = 0; k < n_; ++k) padded[k] = x[k] * chirp_[k];
  (*convolution_)(padded, scratch);
  // The transform back is that of the conjugate.
  for (std::size_t k = 0; k < padded.size(); ++k) padded[k] = conjugate(padded[k] * spectrum_[k]);
  (*convolution_)(padded, scratch);
  const double factor = 1 / static_cast<double>(padded.size());
  for (std::size_t k = 0; k < n_; ++k) {
    const ComplexNumber y = conjugate(padded[k]) * chirp_[k];
    x[k] = {y.re * factor, y.im * factor};
  }
}

}  // namespace hom::cpu
