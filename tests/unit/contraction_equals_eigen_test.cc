// tests/unit/contraction_equals_eigen_test.cc -- matmul against Eigen's products, an independent
// oracle
#include <limits>
#include <random>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

template <class T>
void matmul_equals_eigen(std::int64_t m, std::int64_t k, std::int64_t n, std::uint64_t seed) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::mt19937_64 random(seed);
  std::normal_distribution<T> normal;
  const auto draw = [&](std::int64_t rows, std::int64_t columns) {
    Matrix matrix(rows, columns);
    for (T& element : matrix.reshaped()) element = normal(random);
    return matrix;
  };
  const auto to_tensor = [](const Matrix& x) {
    return tensor(std::vector<T>(x.data(), x.data() + x.size()), Shape{x.rows(), x.cols()});
  };
  const Matrix a = draw(m, k);
  const Matrix b = draw(k, n);
  const Matrix expected = a * b;
  // Two sums in different orders differ by at most twice the bound of one, K·ε·Σ|xy|.
  const Matrix bound =
      (a.cwiseAbs() * b.cwiseAbs()) * (2 * static_cast<T>(k) * std::numeric_limits<T>::epsilon());
  const Tensor x = to_tensor(a);
  const Tensor y = to_tensor(b);
  const Tensor x_transposed = transpose(to_tensor(a.transpose()));
  const Tensor y_transposed = transpose(to_tensor(b.transpose()));
  for (const Tensor& product : {matmul(x, y), matmul(x_transposed, y_transposed)}) {
    const std::vector<T> c = product.to_vector<T>();
    for (std::int64_t i = 0; i < m * n; ++i) {
      ASSERT_LE(std::abs(c[static_cast<std::size_t>(i)] - expected.data()[i]), bound.data()[i])
          << m << "×" << k << "×" << n << " element " << i;
    }
  }
}

TEST(ContractionEqualsEigen, for_every_size_class) {
  const std::int64_t sizes[] = {0, 1, 2, 7, 16, 65, 130};
  std::uint64_t seed = 0;
  for (std::int64_t m : sizes) {
    for (std::int64_t k : sizes) {
      for (std::int64_t n : sizes) {
        matmul_equals_eigen<float>(m, k, n, ++seed);
        matmul_equals_eigen<double>(m, k, n, ++seed);
      }
    }
  }
}

}  // namespace
}  // namespace hom
