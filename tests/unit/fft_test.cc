// tests/unit/fft_test.cc -- Fourier transforms against the sum that defines them, in long double
#include <cmath>
#include <complex>
#include <numbers>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

struct Sums {
  std::vector<double> re;
  std::vector<double> im;
};

/// Σⱼ xⱼ·e^(∓2πijk/n)
Sums by_definition(const Tensor& re, const Tensor& im, bool inverse) {
  const std::vector<double> a = re.to_vector();
  const std::vector<double> b = im.to_vector();
  const std::size_t n = a.size();
  std::vector<long double> c(n);
  std::vector<long double> s(n);
  for (std::size_t k = 0; k < n; ++k) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                              static_cast<long double>(n);
    c[k] = std::cos(angle);
    s[k] = inverse ? std::sin(angle) : -std::sin(angle);
  }
  Sums y;
  for (std::size_t k = 0; k < n; ++k) {
    long double sum_re = 0;
    long double sum_im = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t turn = j * k % n;
      sum_re += a[j] * c[turn] - b[j] * s[turn];
      sum_im += a[j] * s[turn] + b[j] * c[turn];
    }
    y.re.push_back(static_cast<double>(sum_re));
    y.im.push_back(static_cast<double>(sum_im));
  }
  return y;
}

Complex random_complex(const Shape& shape, std::uint64_t seed, Dtype dtype = f64) {
  const std::vector<Key> keys = split(key(seed));
  return {uniform(keys[0], shape, -1, 1, dtype), uniform(keys[1], shape, -1, 1, dtype)};
}

double norm_of(const Complex& x) { return std::sqrt(sum(abs_squared(x)).item()); }
double distance(const Complex& x, const Complex& y) { return norm_of(x - y); }
double distance(const Complex& x, const Sums& y) {
  return distance(x, Complex{tensor(y.re, x.re.shape()), tensor(y.im, x.im.shape())});
}

const std::vector<std::int64_t>& lengths() {
  static const std::vector<std::int64_t> all = [] {
    std::vector<std::int64_t> list;
    for (std::int64_t n = 1; n <= 72; ++n) list.push_back(n);
    for (std::int64_t n : {97, 101, 128, 134, 243, 256, 257, 331, 343, 360, 509, 512, 603, 997})
      list.push_back(n);
    return list;
  }();
  return all;
}

TEST(Fft, every_length_equals_the_sum_in_both_directions) {
  for (const std::int64_t n : lengths()) {
    const Complex x = random_complex({n}, static_cast<std::uint64_t>(n));
    const double tolerance = 1e-15 * (2 + std::log2(static_cast<double>(n)));
    const Sums forward = by_definition(x.re, x.im, false);
    const double size = norm_of(x) * std::sqrt(static_cast<double>(n));
    EXPECT_LT(distance(fft(x), forward), tolerance * size) << n;
    const Sums back = by_definition(x.re, x.im, true);
    EXPECT_LT(distance(ifft(x) * static_cast<double>(n), back), tolerance * size) << n;
  }
}

TEST(Fft, large_primes_and_powers_are_inverted) {
  for (const std::int64_t n : {10007, 65537, 99991, 65536, 100000, 99999}) {
    const Complex x = random_complex({n}, 7);
    const Complex y = fft(x);
    EXPECT_LT(distance(ifft(y), x), 2e-15 * norm_of(x) * std::log2(static_cast<double>(n))) << n;
    // Parseval: Σ|y|² = n·Σ|x|².
    EXPECT_NEAR(norm_of(y) / norm_of(x) / std::sqrt(static_cast<double>(n)), 1, 1e-13) << n;
    // An impulse has one wave: its elements have size 1.
    const Complex impulse{zeros({n}).at(3).set(1.0), zeros({n})};
    EXPECT_LT(max(abs(abs(fft(impulse)) - 1)).item(), 1e-13) << n;
  }
}

TEST(Fft, f32_is_f64_rounded) {
  for (const std::int64_t n : {1, 4, 30, 61, 67, 1000}) {
    const Complex x = random_complex({n}, 3, f32);
    const Complex y = fft(x);
    const Complex wide = fft(Complex{x.re.astype(f64), x.im.astype(f64)});
    EXPECT_EQ(y.re.dtype(), f32);
    EXPECT_TRUE(array_equal(y.re, wide.re.astype(f32)));
    EXPECT_TRUE(array_equal(y.im, wide.im.astype(f32)));
  }
}

TEST(Fft, circular_convolution_is_a_product_of_spectra) {
  for (const std::int64_t n : {1, 2, 5, 12, 37, 67, 71}) {
    const Tensor a = uniform(key(1), {n}, -1, 1, f64);
    const Tensor b = uniform(key(2), {n}, -1, 1, f64);
    Tensor want = zeros({n});
    for (std::int64_t j = 0; j < n; ++j) want = want + a(j) * roll(b, j, 0);
    const Complex y = ifft(fft(a) * fft(b));
    EXPECT_LT(max(abs(y.re - want)).item(), 1e-13) << n;
    EXPECT_LT(max(abs(y.im)).item(), 1e-13) << n;
    EXPECT_LT(max(abs(irfft(rfft(a) * rfft(b), n) - want)).item(), 1e-13) << n;
  }
}

TEST(Fft, transforms_of_real_tensors_keep_half_and_come_back) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 9, 66, 67}) {
    const Tensor x = uniform(key(4), {3, n}, -1, 1, f64);
    const Complex half = rfft(x);
    EXPECT_EQ(half.re.shape(), (Shape{3, n / 2 + 1}));
    const Complex whole = fft(x);
    EXPECT_TRUE(array_equal(half.im, whole.im(all, Range{0, n / 2 + 1})));
    EXPECT_LT(max(abs(irfft(half, n) - x)).item(), 1e-14) << n;
    EXPECT_LT(max(abs(irfft(rfft(x.T(), 0), n, 0) - x.T())).item(), 1e-14) << n;
  }
}

TEST(Fft, norms_share_the_factor) {
  const Complex x = random_complex({6}, 5);
  for (const Norm norm : {Norm::backward, Norm::ortho, Norm::forward}) {
    EXPECT_LT(distance(ifft(fft(x, -1, norm), -1, norm), x), 1e-14);
    EXPECT_LT(max(abs(irfft(rfft(x.re, -1, norm), 6, -1, norm) - x.re)).item(), 1e-14);
  }
  EXPECT_NEAR(norm_of(fft(x, 0, Norm::ortho)), norm_of(x), 1e-14);
  EXPECT_LT(distance(fft(x, 0, Norm::forward) * 6.0, fft(x)), 1e-14);
}

TEST(Fft, several_axes_and_views) {
  const Complex x = random_complex({4, 3, 5}, 6);
  const Complex one_by_one = fft(fft(fft(x, 2), 1), 0);
  EXPECT_LT(distance(fftn(x), one_by_one), 1e-13);
  EXPECT_LT(distance(ifftn(fftn(x)), x), 1e-14);
  EXPECT_LT(distance(fft2(x), fftn(x, {1, 2})), 1e-14);
  EXPECT_LT(distance(ifft2(fft2(x)), x), 1e-14);
  const Complex turned{transpose(x.re), transpose(x.im)};
  const Complex y = fft(turned, 0);
  EXPECT_LT(distance(Complex{transpose(y.re), transpose(y.im)}, fft(x, 2)), 1e-14);
  const Complex reversed{flip(x.re, {1}), flip(x.im, {1})};
  for (std::int64_t i = 0; i < 4; ++i) {
    const Complex row{reversed.re(i, all, 2), reversed.im(i, all, 2)};
    const Complex z = fft(reversed, 1);
    EXPECT_LT(
        distance(Complex{z.re(i, all, 2), z.im(i, all, 2)}, by_definition(row.re, row.im, false)),
        1e-14);
  }
  EXPECT_EQ(fft(zeros({0})).re.shape(), (Shape{0}));
  EXPECT_EQ(fft(zeros({2, 0, 3}), 2).re.shape(), (Shape{2, 0, 3}));
}

TEST(Fft, frequencies_and_shifts) {
  EXPECT_EQ(fftfreq(4).to_vector(), (std::vector{0.0, 0.25, -0.5, -0.25}));
  EXPECT_EQ(fftfreq(5, 0.5).to_vector(), (std::vector{0.0, 0.4, 0.8, -0.8, -0.4}));
  EXPECT_EQ(rfftfreq(4, 2).to_vector(), (std::vector{0.0, 0.125, 0.25}));
  EXPECT_EQ(fftshift(arange(5)).to_vector<int>(), (std::vector{3, 4, 0, 1, 2}));
  EXPECT_EQ(ifftshift(fftshift(arange(5))).to_vector<int>(), (std::vector{0, 1, 2, 3, 4}));
  const Tensor x = reshape(arange(6), {2, 3});
  EXPECT_TRUE(array_equal(fftshift(x, {1}), tensor<std::int64_t>({{2, 0, 1}, {5, 3, 4}})));
  const Complex c = fftshift(Complex{x, x});
  EXPECT_TRUE(array_equal(c.re, fftshift(x)));
}

TEST(Fft, derivatives_are_transforms) {
  const Tensor x = uniform(key(8), {7}, -1, 1, f64);
  // Σ|y|² = n·Σx², with gradient 2nx.
  const auto energy = [](Tensor t) { return sum(abs_squared(fft(t))); };
  EXPECT_LT(max(abs(grad(energy)(x) - 14.0 * x)).item(), 1e-13);
  const auto half_energy = [](Tensor t) { return sum(abs_squared(rfft(t, -1, Norm::ortho))); };
  EXPECT_TRUE(check_derivatives(half_energy, x).ok());
  const auto filtered = [](Tensor t, Tensor f) {
    return sum(pow(irfft(rfft(t) * Complex{f, sin(f)}, 7), 3.0));
  };
  EXPECT_TRUE(check_derivatives(filtered, x, tensor({0.3, -1.0, 0.5, 2.0})).ok());
  EXPECT_TRUE(check_derivatives(grad(energy), x).ok());
  const auto of_pair = [](Complex c) { return sum(sin(angle(fft(c))) + abs(ifft(exp(c)))); };
  EXPECT_TRUE(check_derivatives(of_pair, random_complex({5}, 9)).ok());
  const auto divided = [](Complex c) {
    return sum((c / (conj(c) + Complex{Tensor(3.0), Tensor(0.5)})).im);
  };
  EXPECT_TRUE(check_derivatives(divided, random_complex({5}, 10)).ok());
}

TEST(Fft, batches_equal_the_loop) {
  const Complex x = random_complex({3, 4, 6}, 11);
  const auto f = [](Complex c) { return fft(c, 0); };
  const Complex y = vmap(f)(x);
  for (std::int64_t i = 0; i < 3; ++i) {
    const Complex one = f(Complex{x.re(i), x.im(i)});
    EXPECT_TRUE(array_equal(y.re(i), one.re) && array_equal(y.im(i), one.im));
  }
  const auto of_real = [](Tensor t) { return fft(t).im; };
  EXPECT_TRUE(array_equal(vmap(of_real, 1, 1)(x.re), fft(x.re).im));
}

TEST(Fft, intervals_enclose_the_transform) {
  const Tensor low = uniform(key(12), {6}, -1, 0, f64);
  const IntervalTensor box(low, low + 0.5);
  const auto f = [](Tensor t) { return fft(t).im; };
  const IntervalTensor y = interval(f)(box);
  for (std::uint64_t i = 0; i < 20; ++i)
    EXPECT_TRUE(y.contains(f(low + uniform(key(i), {6}, 0, 0.5, f64))));
  EXPECT_LT(max(y.upper() - y.lower()).item(), 3);
}

TEST(Complex, arithmetic_is_that_of_complex_numbers) {
  const Complex a{tensor({1.0, -2.0}), tensor({3.0, 0.5})};
  const Complex b{tensor({2.0, 0.25}), tensor({-1.0, 4.0})};
  const std::complex<double> x(1, 3);
  const std::complex<double> y(2, -1);
  const auto same = [](const Complex& got, std::complex<double> want) {
    EXPECT_NEAR(got.re(0).item(), want.real(), 1e-15);
    EXPECT_NEAR(got.im(0).item(), want.imag(), 1e-15);
  };
  same(a + b, x + y);
  same(a - b, x - y);
  same(a * b, x * y);
  same(a / b, x / y);
  same(-a, -x);
  same(conj(a), std::conj(x));
  same(exp(b), std::exp(y));
  same(2.0 * a, 2.0 * x);
  same(a / 4.0, x / 4.0);
  EXPECT_NEAR(abs(a)(0).item(), std::abs(x), 1e-15);
  EXPECT_NEAR(angle(b)(0).item(), std::arg(y), 1e-15);
}

}  // namespace
}  // namespace hom
