// tests/unit/linear_algebra_support.h -- matrices without a pattern, and how near results are
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {

/// […batch, m, n]
inline Shape matrices_in(Shape batch, std::int64_t m, std::int64_t n) {
  batch.push_back(m);
  batch.push_back(n);
  return batch;
}

/// Numbers between −1 and 1, the same in every run.
inline Tensor random_matrix(const Shape& shape, std::uint64_t seed, Dtype dtype = f64) {
  return uniform(key(seed), shape, -1, 1, dtype);
}
inline Tensor adjoint(const Tensor& x) { return swap_axes(x, -2, -1); }
inline Tensor positive_definite(const Shape& batch, std::int64_t n, std::uint64_t seed,
                                Dtype dtype = f64) {
  const Tensor x = random_matrix(matrices_in(batch, n, n), seed, dtype);
  return matmul(x, adjoint(x)) + eye(n, dtype);
}
/// Well-conditioned: no singular value is below 1.
inline Tensor invertible(const Shape& batch, std::int64_t n, std::uint64_t seed,
                         Dtype dtype = f64) {
  return random_matrix(matrices_in(batch, n, n), seed, dtype) +
         (1.0 + static_cast<double>(n)) * eye(n, dtype);
}

/// The largest size of an element; NaN where one is NaN.
inline double largest_of(const Tensor& x) {
  double most = 0;
  for (double value : x.to_vector()) {
    if (std::isnan(value)) return value;
    most = std::max(most, std::abs(value));
  }
  return most;
}

/// Within a few roundings for each of n terms.
inline void expect_close(const Tensor& got, const Tensor& want, std::int64_t n) {
  ASSERT_EQ(got.type(), want.type());
  const double epsilon = got.dtype() == f32 ? 0x1p-23 : 0x1p-52;
  EXPECT_LE(largest_of(got - want),
            10 * epsilon * static_cast<double>(n + 4) * (1 + largest_of(want)));
}
inline void expect_near(const Tensor& got, const Tensor& want, double tolerance = 1e-12) {
  ASSERT_EQ(got.type(), want.type());
  EXPECT_LE(largest_of(got - want), tolerance * (1 + largest_of(want))) << got << "\nis not\n"
                                                                        << want;
}

inline bool is_all_nan(const Tensor& x) {
  const std::vector<double> values = x.to_vector();
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

inline const Shape batches[] = {{}, {0}, {2}, {2, 3}};

}  // namespace hom
