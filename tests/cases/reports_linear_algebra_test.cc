// tests/cases/reports_linear_algebra_test.cc -- determinants, factorizations and exponentials of
// matrices at singular and infinite ones
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <cmath>
#include <limits>
#include <utility>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor det(Tensor a) { return determinant(a); }
bool is_all_nan(const Tensor& x) {
  for (double value : x.to_vector()) {
    if (!std::isnan(value)) return false;
  }
  return true;
}

// Row 90.

TEST(Reports, the_hessian_of_a_determinant_at_zero) {
  // det = ad − bc: 1 for a and d, −1 for b and c.
  const std::vector<double> want{0, 0, 0, 1, 0, 0, -1, 0, 0, -1, 0, 0, 1, 0, 0, 0};
  for (const Tensor& a : {zeros({2, 2}), ones({2, 2}), eye(2), tensor({{1.0, 2.0}, {2.0, 4.0}})}) {
    EXPECT_TRUE(near(second_derivative(det, a), want)) << a;
  }
  EXPECT_TRUE(near(gradient(det, zeros({2, 2})), {0, 0, 0, 0}));
  EXPECT_TRUE(near(gradient(det, tensor({{1.0, 2.0}, {2.0, 4.0}})), {4, -2, -2, 1}));
}

TEST(Reports, the_determinant_of_a_singular_matrix_has_its_cofactors_as_gradient) {
  // Of rank 2, 1 and 0: the cofactors by hand.
  const Tensor rank_2 = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 9.0}});
  EXPECT_TRUE(near(gradient(det, rank_2), {-3, 6, -3, 6, -12, 6, -3, 6, -3}));
  EXPECT_TRUE(near(gradient(det, ones({3, 3})), std::vector<double>(9, 0.0)));
  EXPECT_TRUE(near(gradient(det, zeros({3, 3})), std::vector<double>(9, 0.0)));
  EXPECT_TRUE(
      near(gradient(det, diagonal_matrix(tensor({2.0, 3.0, 0.0}))), {0, 0, 0, 0, 0, 0, 0, 0, 6}));
  // ∂²det/∂aᵢⱼ∂aₖₗ is linear in a: at 1·1ᵀ each is ±1 or 0, at a it is an element of a with its
  // sign.
  const Tensor second = second_derivative(det, rank_2);
  EXPECT_TRUE(near(second(0, 0, 1, 1), 9));
  EXPECT_TRUE(near(second(0, 0, 2, 2), 5));
  EXPECT_TRUE(near(second(0, 1, 1, 0), -9));
  EXPECT_TRUE(near(second(0, 1, 1, 2), 7));
  EXPECT_TRUE(near(second(0, 0, 0, 1), 0));
  EXPECT_TRUE(near(second_derivative(det, zeros({3, 3})), std::vector<double>(81, 0.0)));
}

TEST(Reports, determinants_of_batches_and_of_the_smallest_matrices) {
  const Tensor batch = tensor({{{1.0, 2.0}, {3.0, 4.0}}, {{0.0, 0.0}, {0.0, 0.0}}});
  EXPECT_TRUE(near(determinant(batch), {-2, 0}));
  const auto total = [](Tensor a) { return sum(determinant(a)); };
  EXPECT_TRUE(near(gradient(total, batch), {4, -3, -2, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(near(determinant(zeros({0, 0})), 1));
  EXPECT_TRUE(near(determinant(zeros({3, 0, 0})), {1, 1, 1}));
  EXPECT_TRUE(near(gradient(det, tensor({{0.0}})), 1));
  EXPECT_TRUE(near(second_derivative(det, tensor({{5.0}})), 0));
  EXPECT_TRUE(near(gradient(det, ones({2, 2}, f32)), {1, -1, -1, 1}));
}

// Row 91.

TEST(Reports, the_gradient_of_an_upper_cholesky_factor_is_symmetrised) {
  const Tensor a = tensor({{4.0, 1.0}, {1.0, 3.0}});
  const auto upper = [](Tensor x) { return sum(cholesky(x, Triangle::upper)); };
  // u₁₁ = 2, u₁₂ = ½, u₂₂ = √(11/4) =: w. The derivative in a₁₁ is 1/4 − 1/16 + 1/(32w); in a₁₂,
  // shared by both places, 1/2 − 1/(4w); in a₂₂, 1/(2w).
  const double w = std::sqrt(2.75);
  const double off = (0.5 - 0.25 / w) / 2;
  const std::vector<double> want{0.25 - 0.0625 + 1 / (32 * w), off, off, 1 / (2 * w)};
  EXPECT_TRUE(near(gradient(upper, a), want));
  EXPECT_NEAR(want[0], 0.206344, 1e-6);
  EXPECT_NEAR(want[1], 0.174622, 1e-6);
  EXPECT_NEAR(want[3], 0.301511, 1e-6);
  const auto lower = [](Tensor x) { return sum(cholesky(x)); };
  EXPECT_TRUE(near(gradient(lower, a), want));
  EXPECT_TRUE(near(gradient(lower, a.astype(f32)), want, 1e-6));
  // A matrix that is not symmetric stands for its symmetric part.
  EXPECT_TRUE(near(gradient(lower, tensor({{4.0, 0.0}, {2.0, 3.0}})), want));
  const Tensor second = second_derivative(lower, a);
  EXPECT_TRUE(agree(second(0, 1), second(1, 0)));
}

// Row 93.

TEST(Reports, cholesky_of_what_is_not_positive_definite_is_nan_and_never_junk) {
  const Tensor range = reshape(arange(9).astype(f64), {3, 3});
  for (const Dtype dtype : {f64, f32}) {
    EXPECT_TRUE(is_all_nan(cholesky(range.astype(dtype))));
    EXPECT_TRUE(is_all_nan(cholesky(range.astype(dtype), Triangle::upper)));
    EXPECT_TRUE(is_all_nan(cholesky(-eye(3, dtype))));
    EXPECT_TRUE(is_all_nan(cholesky(ones({2, 2}, dtype))));
  }
  // Alike in a captured program, in a batch, and in the gradient.
  EXPECT_TRUE(
      is_all_nan(evaluate(program([](Tensor a) { return cholesky(a); }, range), {range})[0]));
  const Tensor batch = vmap([](Tensor a) { return cholesky(a); })(stack({range, eye(3)}));
  EXPECT_TRUE(is_all_nan(batch(0)));
  EXPECT_TRUE(agree(batch(1), eye(3)));
  EXPECT_TRUE(is_all_nan(grad([](Tensor a) { return sum(cholesky(a)); })(range)));
  EXPECT_TRUE(is_all_nan(cholesky(tensor({{nan, 0.0}, {0.0, 1.0}}))));
}

// Row 95.

TEST(Reports, the_exponential_of_an_infinite_matrix_ends) {
  for (const Dtype dtype : {f64, f32}) {
    for (const double value : {infinity, -infinity, nan}) {
      EXPECT_TRUE(is_all_nan(expm(full({1, 1}, value, dtype))));
      EXPECT_TRUE(is_all_nan(expm(full({3, 3}, value, dtype))));
    }
  }
  const auto total = [](Tensor a) { return sum(expm(a)); };
  EXPECT_TRUE(is_all_nan(grad(total)(full({2, 2}, infinity))));
  EXPECT_TRUE(is_all_nan(jvp(total)(full({2, 2}, infinity), ones({2, 2})).second));
  // Beside others in a batch, which are left alone.
  const Tensor both = expm(stack({full({2, 2}, infinity), zeros({2, 2})}));
  EXPECT_TRUE(is_all_nan(both(0)));
  EXPECT_TRUE(agree(both(1), eye(2)));
}

TEST(Reports, exponentials_of_large_matrices_that_are_known) {
  // Nilpotent: 1 + a, however large. Diagonal: the exponentials. A rotation by many turns.
  EXPECT_TRUE(near(expm(tensor({{0.0, 1e15}, {0.0, 0.0}})), {1, 1e15, 0, 1}));
  EXPECT_TRUE(near(expm(diagonal_matrix(tensor({-1e6, 1.0}))), {0, 0, 0, std::exp(1.0)}, 1e-10));
  const double turn = 100;
  EXPECT_TRUE(near(expm(tensor({{0.0, -turn}, {turn, 0.0}})),
                   {std::cos(turn), -std::sin(turn), std::sin(turn), std::cos(turn)}, 1e-12));
  EXPECT_TRUE(near(expm(zeros({0, 0})), std::vector<double>{}));
  EXPECT_TRUE(near(expm(tensor({{1000.0}})), infinity));
  // d e^a/da at 0 is the identity; of one number it is the exponential, at any order.
  const auto f = [](Tensor x) { return expm(reshape(x, {1, 1}))(0, 0); };
  EXPECT_TRUE(near(gradient(f, 1.5), std::exp(1.5)));
  EXPECT_TRUE(near(second_derivative(f, 9.0), std::exp(9.0)));
  EXPECT_TRUE(near(gradient([](Tensor a) { return sum(expm(a)); }, zeros({2, 2})), {1, 1, 1, 1}));
}

}  // namespace
}  // namespace hom::cases
