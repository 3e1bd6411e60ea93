// tests/cases/reports_random_test.cc -- integers without bias, and noise without infinities
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <cmath>
#include <limits>

#include "support.h"

namespace hom::cases {
namespace {

// Row 80.

TEST(Reports, a_histogram_of_a_million_bytes_below_100_is_flat) {
  for (const Dtype dtype : {u8, i8, u32, i64}) {
    const Tensor x = random_integers(key(80), {1000000}, 0, 100, dtype);
    std::vector<double> counts(100);
    for (std::uint8_t value : x.to_vector<std::uint8_t>()) ++counts.at(value);
    double chi_square = 0;
    for (double count : counts) chi_square += (count - 1e4) * (count - 1e4) / 1e4;
    // 99 degrees of freedom: 161 is exceeded by one key in ten thousand. Bytes modulo 100, which
    // give 0 … 55 three times and the others twice, would have 41000.
    EXPECT_LT(chi_square, 161) << dtype.name();
    EXPECT_GT(chi_square, 50) << dtype.name();
  }
}

TEST(Reports, ranges_that_fill_a_dtype_are_flat_too) {
  const Tensor x = random_integers(key(81), {256000}, 0, 256, u8);
  std::vector<double> counts(256);
  for (std::uint8_t value : x.to_vector<std::uint8_t>()) ++counts[value];
  double chi_square = 0;
  for (double count : counts) chi_square += (count - 1e3) * (count - 1e3) / 1e3;
  EXPECT_LT(chi_square, 255 + 4 * std::sqrt(510));
}

// Row 103, the part about Gumbel's noise.

TEST(Reports, noise_is_finite_whatever_the_bits) {
  // Uniform numbers are odd multiples of 2⁻²⁴: neither 0 nor 1, and these are their ends.
  const Tensor ends = tensor<float>({0x1p-24f, 1 - 0x1p-24f});
  const Tensor furthest = -log(-log(ends));
  EXPECT_TRUE(all_of(is_finite(furthest)).item<bool>());
  constexpr std::int64_t n = 1 << 20;
  const Tensor x = gumbel(key(103), {n});
  EXPECT_LE(max(x).item(), furthest(1).item());
  EXPECT_GE(min(x).item(), furthest(0).item());
  EXPECT_GT(max(x).item(), 12);
  for (const Dtype dtype : {f16, bf16, f64}) {
    EXPECT_TRUE(all_of(is_finite(gumbel(key(1), {100000}, dtype))).item<bool>());
    EXPECT_TRUE(all_of(is_finite(normal(key(1), {100000}, dtype))).item<bool>());
    EXPECT_TRUE(all_of(is_finite(exponential(key(1), {100000}, dtype))).item<bool>());
    EXPECT_TRUE(all_of(is_finite(laplace(key(1), {100000}, dtype))).item<bool>());
  }
  EXPECT_TRUE(all_of(is_finite(normal(key(2), {n}))).item<bool>());
  EXPECT_GT(min(exponential(key(2), {n})).item(), 0);
}

}  // namespace
}  // namespace hom::cases
