// tests/unit/factorizations_test.cc -- cholesky, lu, qr, eigh, svd: products of the factors, and
// what each factor promises
#include "linear_algebra_support.h"

namespace hom {
namespace {

void expect_orthonormal_columns(const Tensor& q) {
  const std::int64_t k = q.shape().back();
  const Tensor product = matmul(adjoint(q), q);
  expect_close(product, broadcast_to(eye(k, q.dtype()), product.shape()), q.extent(-2));
}
const std::pair<std::int64_t, std::int64_t> extents[] = {
    {0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 4}, {4, 1}, {2, 2}, {3, 5}, {5, 3}, {33, 33}, {40, 70}};

/// A body for every dtype, batch and pair of extents.
template <class F>
void for_every_shape(const F& f) {
  std::uint64_t seed = 1;
  for (Dtype dtype : {f64, f32}) {
    for (const Shape& batch : batches) {
      for (const auto& [m, n] : extents) {
        const Shape shape = matrices_in(batch, m, n);
        SCOPED_TRACE(to_string(dtype[shape]));
        f(random_matrix(shape, ++seed, dtype), m, n);
      }
    }
  }
}

TEST(Cholesky, is_the_lower_triangle_whose_square_is_the_matrix) {
  for (Dtype dtype : {f64, f32}) {
    for (const Shape& batch : batches) {
      for (const std::int64_t n : {0, 1, 2, 3, 31, 32, 33, 100}) {
        const Tensor a = positive_definite(batch, n, static_cast<std::uint64_t>(n), dtype);
        const Tensor l = cholesky(a);
        SCOPED_TRACE(to_string(a.type()));
        ASSERT_EQ(l.type(), a.type());
        EXPECT_TRUE(array_equal(tril(l), l));
        expect_close(matmul(l, adjoint(l)), a, n);
        const Tensor u = cholesky(a, Triangle::upper);
        EXPECT_TRUE(array_equal(u, adjoint(l)));
      }
    }
  }
  EXPECT_TRUE(
      array_equal(cholesky(tensor({{4.0, 2.0}, {2.0, 10.0}})), tensor({{2.0, 0.0}, {1.0, 3.0}})));
}

TEST(Cholesky, reads_the_symmetric_part) {
  const Tensor a = tensor({{4.0, 1.0}, {3.0, 10.0}});
  EXPECT_TRUE(array_equal(cholesky(a), cholesky(tensor({{4.0, 2.0}, {2.0, 10.0}}))));
}

TEST(Cholesky, of_what_is_not_positive_definite_is_nan_throughout) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Tensor& a : {tensor({{0.0}}), tensor({{-1.0}}), tensor({{1.0, 2.0}, {2.0, 1.0}}),
                          zeros({3, 3}), tensor({{1.0, nan}, {1.0, 1.0}}),
                          tensor({{1.0, 0.0}, {0.0, nan}}), -positive_definite({}, 40, 3)})
    EXPECT_TRUE(is_all_nan(cholesky(a))) << a;
  // The other matrices of a batch are left alone.
  const Tensor both = cholesky(tensor({{{1.0, 2.0}, {2.0, 1.0}}, {{1.0, 0.0}, {0.0, 4.0}}}));
  EXPECT_TRUE(is_all_nan(both(0)));
  EXPECT_TRUE(array_equal(both(1), tensor({{1.0, 0.0}, {0.0, 2.0}})));
}

TEST(Lu, product_of_the_factors_is_the_matrix_with_rows_permuted) {
  for_every_shape([](const Tensor& a, std::int64_t m, std::int64_t n) {
    const std::int64_t k = std::min(m, n);
    const Lu factors = lu(a);
    ASSERT_EQ(factors.packed.type(), a.type());
    ASSERT_EQ(factors.permutation.dtype(), i64);
    const Tensor l =
        tril(factors.packed, -1)(ellipsis, Range{0, k}) + tril(triu(ones({m, k}, a.dtype())));
    const Tensor u = triu(factors.packed)(ellipsis, Range{0, k}, all);
    const Tensor rows = expand_dims(factors.permutation, -1);
    const Tensor permuted = take_along_axis(a, broadcast_to(rows, a.shape()), -2);
    expect_close(matmul(l, u), permuted, n);
    EXPECT_LE(largest_of(l), 1);  // which pivoting is for
  });
}

TEST(Lu, pivots_are_the_first_of_the_largest) {
  const Lu factors = lu(tensor({{0.0, 1.0}, {-2.0, 3.0}, {2.0, 5.0}}));
  EXPECT_TRUE(array_equal(factors.permutation, tensor<std::int64_t>({1, 2, 0})));
  EXPECT_TRUE(array_equal(factors.packed, tensor({{-2.0, 3.0}, {-1.0, 8.0}, {0.0, 0.125}})));
}

TEST(Qr, has_orthonormal_columns_and_a_triangle_of_nonnegative_diagonal) {
  for_every_shape([](const Tensor& a, std::int64_t m, std::int64_t n) {
    const Qr factors = qr(a);
    ASSERT_EQ(factors.q.extent(-1), std::min(m, n));
    expect_orthonormal_columns(factors.q);
    expect_close(matmul(factors.q, factors.r), a, n);
    EXPECT_TRUE(array_equal(triu(factors.r), factors.r));
    for (double value : diagonal(factors.r).to_vector()) EXPECT_GE(value, 0);
  });
}

TEST(Eigh, vectors_are_orthonormal_and_scaled_by_ascending_values) {
  for (Dtype dtype : {f64, f32}) {
    for (const Shape& batch : batches) {
      for (const std::int64_t n : {0, 1, 2, 3, 31, 64}) {
        const Shape shape = matrices_in(batch, n, n);
        const Tensor x = random_matrix(shape, static_cast<std::uint64_t>(n) + 9, dtype);
        const Tensor symmetric = (x + adjoint(x)) / 2;
        const Eigh e = eigh(x);
        SCOPED_TRACE(to_string(x.type()));
        expect_orthonormal_columns(e.vectors);
        expect_close(matmul(symmetric, e.vectors), e.vectors * expand_dims(e.values, -2), n);
        EXPECT_TRUE(array_equal(e.values, eigvalsh(x)));
        const std::vector<double> values = e.values.to_vector();
        for (std::size_t i = 1; i < values.size(); ++i) {
          if (static_cast<std::int64_t>(i) % n != 0) {
            EXPECT_LE(values[i - 1], values[i]);
          }
        }
      }
    }
  }
}

TEST(Eigh, signs_of_vectors_do_not_depend_on_roundings) {
  // (1, −1)/√2 and (1, 1)/√2: components of equal size, of which the first is positive.
  for (double shift : {0.0, 1e-17, 0.3, 1e5}) {
    const Tensor v = eigh(tensor({{shift, 1.0}, {1.0, shift}})).vectors;
    EXPECT_GT(v(0, 0).item(), 0.5) << shift;
    EXPECT_LT(v(1, 0).item(), -0.5) << shift;
    EXPECT_GT(v(0, 1).item(), 0.5) << shift;
    EXPECT_GT(v(1, 1).item(), 0.5) << shift;
  }
  const Tensor unit = eigh(eye(3)).vectors;
  EXPECT_TRUE(array_equal(unit, eye(3)));
}

TEST(Svd, has_orthonormal_factors_around_descending_values) {
  for_every_shape([](const Tensor& a, std::int64_t m, std::int64_t n) {
    const std::int64_t k = std::min(m, n);
    const Svd factors = svd(a);
    ASSERT_EQ(factors.s.extent(-1), k);
    expect_orthonormal_columns(factors.u);
    expect_orthonormal_columns(adjoint(factors.vt));
    expect_close(matmul(factors.u * expand_dims(factors.s, -2), factors.vt), a, n);
    EXPECT_TRUE(array_equal(factors.s, singular_values(a)));
    const std::vector<double> s = factors.s.to_vector();
    for (std::size_t i = 0; i < s.size(); ++i) {
      EXPECT_GE(s[i], 0);
      if (static_cast<std::int64_t>(i) % k != 0) {
        EXPECT_GE(s[i - 1], s[i]);
      }
    }
  });
}

TEST(Svd, of_deficient_rank_has_zeros) {
  const Tensor x = random_matrix({6, 2}, 4);
  const Tensor a = matmul(x, x.T());
  const Svd factors = svd(a);
  expect_orthonormal_columns(factors.u);
  expect_close(matmul(factors.u * factors.s, factors.vt), a, 6);
  for (std::int64_t i : {2, 3, 4, 5}) EXPECT_LE(factors.s(i).item(), 1e-14);
  EXPECT_TRUE(array_equal(singular_values(zeros({3, 2})), zeros({2})));
}

TEST(Factorizations, of_what_is_not_finite_are_nan_and_end) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (Dtype dtype : {f64, f32}) {
      const Tensor a = random_matrix({20, 20}, 5, dtype).at(3, 4).set(value);
      EXPECT_TRUE(is_all_nan(qr(a).q) && is_all_nan(qr(a).r));
      EXPECT_TRUE(is_all_nan(eigvalsh(a)) && is_all_nan(eigh(a).vectors));
      EXPECT_TRUE(is_all_nan(singular_values(a)) && is_all_nan(svd(a).u));
      // Elimination hands a NaN on, and divides by an infinity.
      EXPECT_EQ(is_all_nan(lu(a).packed(19, 19)), std::isnan(value));
      EXPECT_FALSE(std::isfinite(determinant(a).item()));
      EXPECT_TRUE(is_all_nan(cofactor(a)) && is_all_nan(pinv(a)));
    }
  }
  const Tensor huge = full({3, 3}, 1e300) + 1e299 * eye(3);
  EXPECT_TRUE(all_of(is_finite(eigvalsh(huge))).item<bool>());
  EXPECT_TRUE(all_of(is_finite(singular_values(huge))).item<bool>());
}

TEST(Factorizations, of_views_are_those_of_their_elements) {
  const Tensor whole = positive_definite({}, 6, 7);
  const Tensor view = flip(whole, {0, 1})(Range{0, 6, 2}, Range{0, 6, 2});
  const Tensor dense = copy(view);
  EXPECT_TRUE(array_equal(cholesky(view), cholesky(dense)));
  EXPECT_TRUE(array_equal(lu(view).packed, lu(dense).packed));
  EXPECT_TRUE(array_equal(qr(view.T()).q, qr(copy(view.T())).q));
  EXPECT_TRUE(array_equal(eigvalsh(view), eigvalsh(dense)));
  EXPECT_TRUE(array_equal(svd(view).u, svd(dense).u));
  const Tensor repeated = broadcast_to(whole, {3, 6, 6});
  EXPECT_TRUE(array_equal(cholesky(repeated)(2), cholesky(whole)));
}

}  // namespace
}  // namespace hom
