// tests/unit/linear_systems_test.cc -- solutions, inverses, least squares, and functions of
// matrices whose values are known
#include <cmath>
#include <vector>

#include "linear_algebra_support.h"

namespace hom {
namespace {

/// The triangle of a that triangular_solve reads, as the matrix of the system.
Tensor system_of(const Tensor& a, const TriangularSolve& options) {
  Tensor triangle = options.lower ? tril(a) : triu(a);
  if (options.unit)
    triangle = triangle - diagonal_matrix(diagonal(a)) + eye(a.extent(-1), a.dtype());
  return options.transposed ? adjoint(triangle) : triangle;
}

TEST(TriangularSolve, solves_with_either_triangle_of_every_size) {
  for (Dtype dtype : {f64, f32}) {
    for (const Shape& batch : batches) {
      for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 70}) {
        for (const bool lower : {false, true}) {
          for (const bool transposed : {false, true}) {
            for (const bool unit : {false, true}) {
              const TriangularSolve options{lower, transposed, unit};
              Tensor a = invertible(batch, n, static_cast<std::uint64_t>(n), dtype);
              // With a unit diagonal the rest has to be small.
              if (unit) a = a / (1.0 + static_cast<double>(n));
              const Tensor b = random_matrix(matrices_in(batch, n, 3), 7, dtype);
              const Tensor x = triangular_solve(a, b, options);
              SCOPED_TRACE(to_string(a.type()));
              expect_close(matmul(system_of(a, options), x), b, n);
            }
          }
        }
      }
    }
  }
}

TEST(TriangularSolve, of_known_systems) {
  const Tensor a = tensor({{2.0, 7.0}, {1.0, 4.0}});
  const Tensor b = tensor({2.0, 5.0});
  EXPECT_TRUE(array_equal(triangular_solve(a, b), tensor({1.0, 1.0})));
  EXPECT_TRUE(array_equal(triangular_solve(a, b, {.lower = false}), tensor({-3.375, 1.25})));
  EXPECT_TRUE(array_equal(triangular_solve(a, b, {.unit = true}), tensor({2.0, 3.0})));
  EXPECT_TRUE(array_equal(triangular_solve(a, b, {.transposed = true}), tensor({0.375, 1.25})));
  const std::vector<double> singular = triangular_solve(zeros({1, 1}), ones({1})).to_vector();
  EXPECT_TRUE(std::isinf(singular[0]));
}

TEST(TriangularSolve, a_column_does_not_depend_on_those_beside_it) {
  const Tensor a = invertible({}, 100, 1);
  const Tensor b = random_matrix({100, 9}, 2);
  const Tensor x = triangular_solve(a, b);
  for (const std::int64_t j : {0, 4, 8})
    EXPECT_TRUE(array_equal(triangular_solve(a, b(all, j)), x(all, j)));
}

TEST(Solve, solves_vectors_and_columns_with_batches_that_broadcast) {
  for (Dtype dtype : {f64, f32}) {
    for (const std::int64_t n : {0, 1, 2, 5, 33, 80}) {
      const Tensor a = invertible({3}, n, 4, dtype);
      const Tensor vector = random_matrix({n}, 5, dtype);
      const Tensor columns = random_matrix({2, 1, n, 4}, 6, dtype);
      const Tensor x = solve(a, vector);
      ASSERT_EQ(x.type(), (dtype[{3, n}]));
      expect_close(squeeze(matmul(a, expand_dims(x, -1)), {-1}), broadcast_to(vector, {3, n}), n);
      const Tensor y = solve(a, columns);
      ASSERT_EQ(y.type(), (dtype[{2, 3, n, 4}]));
      expect_close(matmul(broadcast_to(a, {2, 3, n, n}), y), broadcast_to(columns, {2, 3, n, 4}),
                   n);
      const Tensor product = matmul(a, inverse(a));
      expect_close(product, broadcast_to(eye(n, dtype), {3, n, n}), n);
    }
  }
  // Rows change places.
  EXPECT_TRUE(
      array_equal(solve(tensor({{0.0, 2.0}, {4.0, 0.0}}), tensor({2.0, 4.0})), tensor({1.0, 1.0})));
  EXPECT_EQ(solve(eye(2), ones({2}, f32)).dtype(), f64);
  EXPECT_FALSE(std::isfinite(largest_of(solve(ones({2, 2}), tensor({1.0, 2.0})))));
}

TEST(Slogdet, is_the_determinant_without_overflow) {
  for (const std::int64_t n : {1, 2, 3, 4, 7}) {
    const Tensor a = random_matrix({2, 3, n, n}, static_cast<std::uint64_t>(n));
    const LogDeterminant logs = slogdet(a);
    expect_near(logs.sign * exp(logs.logarithm), determinant(a), 1e-13);
  }
  const LogDeterminant huge = slogdet(-1e200 * eye(3));
  EXPECT_EQ(huge.sign.item(), -1);
  EXPECT_NEAR(huge.logarithm.item(), 600 * std::log(10.0), 1e-10);
  const LogDeterminant singular = slogdet(ones({2, 2}));
  EXPECT_EQ(singular.sign.item(), 0);
  EXPECT_EQ(singular.logarithm.item(), -std::numeric_limits<double>::infinity());
  const LogDeterminant nothing = slogdet(zeros({0, 0}));
  EXPECT_EQ(nothing.sign.item(), 1);
  EXPECT_EQ(nothing.logarithm.item(), 0);
}

TEST(Determinant, is_that_of_permutations_and_triangles) {
  EXPECT_EQ(determinant(tensor({{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}})).item(), 1);
  EXPECT_EQ(determinant(tensor({{0.0, 1.0}, {1.0, 0.0}})).item(), -1);
  EXPECT_EQ(determinant(tensor({{2.0, 9.0, 9.0}, {0.0, 3.0, 9.0}, {0.0, 0.0, 4.0}})).item(), 24);
  EXPECT_EQ(determinant(ones({3, 3})).item(), 0);
  EXPECT_TRUE(std::isnan(determinant(full({2, 2}, std::nan(""))).item()));
}

TEST(Pinv, has_the_four_properties_of_penrose) {
  for (const Shape& shape : {Shape{5, 3}, Shape{3, 5}, Shape{4, 4}, Shape{2, 6, 2}, Shape{1, 1}}) {
    for (const std::int64_t rank : {1, 2}) {
      const std::int64_t m = shape[shape.size() - 2];
      const std::int64_t n = shape.back();
      if (rank > std::min(m, n)) continue;
      const Shape batch(shape.begin(), shape.end() - 2);
      const Tensor a = matmul(random_matrix(matrices_in(batch, m, rank), 1),
                              random_matrix(matrices_in(batch, rank, n), 2));
      const Tensor p = pinv(a);
      const Tensor ap = matmul(a, p);
      const Tensor pa = matmul(p, a);
      SCOPED_TRACE(to_string(a.type()));
      expect_near(matmul(ap, a), a, 1e-13);
      expect_near(matmul(pa, p), p, 1e-12);
      expect_near(adjoint(ap), ap, 1e-13);
      expect_near(adjoint(pa), pa, 1e-13);
      EXPECT_EQ(max(matrix_rank(a)).item<int>(), rank);
      EXPECT_EQ(min(matrix_rank(a)).item<int>(), rank);
    }
  }
  EXPECT_TRUE(array_equal(pinv(zeros({2, 3})), zeros({3, 2})));
  EXPECT_EQ(pinv(zeros({0, 3})).type(), (f64[{3, 0}]));
  EXPECT_EQ(matrix_rank(zeros({0, 3})).item<int>(), 0);
  // The cutoff says what counts as zero.
  const Tensor nearly = diagonal_matrix(tensor({1.0, 1e-3}));
  expect_near(pinv(nearly), diagonal_matrix(tensor({1.0, 1e3})));
  expect_near(pinv(nearly, 0.01), diagonal_matrix(tensor({1.0, 0.0})));
}

TEST(Lstsq, leaves_a_residual_at_right_angles_to_the_columns) {
  const Tensor a = random_matrix({3, 6, 2}, 3);
  const Tensor b = random_matrix({6}, 4);
  const Tensor x = lstsq(a, b);
  ASSERT_EQ(x.type(), (f64[{3, 2}]));
  const Tensor residual = matmul(a, expand_dims(x, -1)) - expand_dims(b, -1);
  EXPECT_LE(largest_of(matmul(adjoint(a), residual)), 1e-14);
  // A line through points: y = 1 + 2t.
  const Tensor t = tensor({0.0, 1.0, 2.0, 3.0});
  expect_near(lstsq(stack({ones({4}), t}, 1), 1.0 + 2.0 * t), tensor({1.0, 2.0}));
  // Of the solutions of one equation the shortest.
  expect_near(lstsq(tensor({{1.0, 1.0}}), tensor({2.0})), tensor({1.0, 1.0}));
}

TEST(MatrixFunctions, powers_are_repeated_products) {
  const Tensor a = random_matrix({2, 3, 3}, 1);
  Tensor product = broadcast_to(eye(3), {2, 3, 3});
  for (std::int64_t k = 0; k <= 9; ++k) {
    expect_near(matrix_power(a, k), product, 1e-13);
    product = matmul(product, a);
  }
  expect_near(matmul(matrix_power(a, -3), matrix_power(a, 3)), broadcast_to(eye(3), {2, 3, 3}),
              1e-9);
}

TEST(MatrixFunctions, exponential_of_a_symmetric_matrix_is_that_of_its_eigenvalues) {
  for (Dtype dtype : {f64, f32}) {
    for (const double size : {1e-8, 0.1, 3.0, 20.0}) {
      const Tensor a = size * positive_definite({2}, 4, 3, dtype) / 4;
      const Eigh e = eigh(a);
      const Tensor want = matmul(e.vectors * expand_dims(exp(e.values), -2), adjoint(e.vectors));
      expect_near(expm(a), want, dtype == f32 ? 2e-5 : 1e-13);
    }
  }
}

TEST(MatrixFunctions, norms_are_those_of_the_definition) {
  const Tensor a = tensor({{3.0, 0.0}, {0.0, -4.0}, {0.0, 0.0}});
  EXPECT_EQ(matrix_norm(a).item(), 5);
  EXPECT_NEAR(matrix_norm(a, MatrixNorm::nuclear).item(), 7, 1e-14);
  EXPECT_NEAR(matrix_norm(a, MatrixNorm::two).item(), 4, 1e-14);
  const Tensor b = tensor({{{1.0, -2.0}, {3.0, 4.0}}, {{0.0, 0.0}, {0.0, 5.0}}});
  EXPECT_TRUE(array_equal(matrix_norm(b, MatrixNorm::one), tensor({6.0, 5.0})));
  EXPECT_TRUE(array_equal(matrix_norm(b, MatrixNorm::infinity), tensor({7.0, 5.0})));
  EXPECT_TRUE(array_equal(trace(b), tensor({5.0, 5.0})));
  EXPECT_TRUE(array_equal(diagonal_matrix(tensor({1, 2})), tensor({{1, 0}, {0, 2}})));
}

}  // namespace
}  // namespace hom
