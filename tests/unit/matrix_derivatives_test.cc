// tests/unit/matrix_derivatives_test.cc -- derivatives of functions of matrices: against
// differences in both modes and to second order, in batches, and at the points where factors have
// none
#include <functional>
#include <utility>

#include "linear_algebra_support.h"

namespace hom {
namespace {

using Function = std::function<Tensor(Tensor)>;

/// A weight for each element, so that a sum sees all of them.
Tensor weighted(const Tensor& y) {
  return sum(y * cos(reshape(arange(y.size(), f64) + 1.0, y.shape())));
}

void expect_right_derivatives(const char* name, const Function& f, const Tensor& x) {
  const auto scalar = [&](Tensor a) { return weighted(f(a)); };
  const DerivativeReport report = check_derivatives(scalar, x, CheckOptions{.second_order = true});
  EXPECT_TRUE(report.ok()) << name << " of " << to_string(x.type()) << "\n" << report;
}

const std::pair<const char*, Function> functions[] = {
    {"cholesky", [](Tensor a) { return cholesky(a); }},
    {"cholesky, upper", [](Tensor a) { return cholesky(a, Triangle::upper); }},
    {"lu", [](Tensor a) { return lu(a).packed; }},
    {"q", [](Tensor a) { return qr(a).q; }},
    {"r", [](Tensor a) { return qr(a).r; }},
    {"eigenvalues", [](Tensor a) { return eigvalsh(a); }},
    {"eigenvectors", [](Tensor a) { return eigh(a).vectors; }},
    {"u", [](Tensor a) { return svd(a).u; }},
    {"s", [](Tensor a) { return singular_values(a); }},
    {"vt", [](Tensor a) { return svd(a).vt; }},
    {"inverse", [](Tensor a) { return inverse(a); }},
    {"determinant", [](Tensor a) { return determinant(a); }},
    {"cofactor", [](Tensor a) { return cofactor(a); }},
    {"slogdet", [](Tensor a) { return slogdet(a).logarithm; }},
    {"pinv", [](Tensor a) { return pinv(a); }},
    {"expm", [](Tensor a) { return expm(a); }},
    {"power 5", [](Tensor a) { return matrix_power(a, 5); }},
    {"power -2", [](Tensor a) { return matrix_power(a, -2); }},
    {"solve", [](Tensor a) { return solve(a, sin(a)); }},
    {"solve, a vector", [](Tensor a) { return solve(a, tensor({1.0, 2.0, 3.0})); }},
    {"lstsq", [](Tensor a) { return lstsq(a, cos(a)); }},
    {"frobenius", [](Tensor a) { return matrix_norm(a); }},
    {"nuclear", [](Tensor a) { return matrix_norm(a, MatrixNorm::nuclear); }},
    {"one", [](Tensor a) { return matrix_norm(a, MatrixNorm::one); }},
    {"infinity", [](Tensor a) { return matrix_norm(a, MatrixNorm::infinity); }},
    {"two", [](Tensor a) { return matrix_norm(a, MatrixNorm::two); }},
};

/// Positive definite, with eigenvalues and singular values apart, without symmetry.
Tensor regular(const Shape& batch, std::uint64_t seed) {
  return 0.3 * random_matrix(matrices_in(batch, 3, 3), seed) +
         diagonal_matrix(tensor({1.0, 2.0, 3.5}));
}

TEST(MatrixDerivatives, equal_differences_in_both_modes_to_second_order) {
  for (const auto& [name, f] : functions) {
    expect_right_derivatives(name, f, regular({}, 1));
    expect_right_derivatives(name, f, regular({2}, 2));
  }
}

TEST(MatrixDerivatives, of_matrices_that_are_not_square_equal_differences) {
  const std::pair<const char*, Function> of_any_shape[] = {
      {"lu", [](Tensor a) { return lu(a).packed; }},
      {"q", [](Tensor a) { return qr(a).q; }},
      {"r", [](Tensor a) { return qr(a).r; }},
      {"u", [](Tensor a) { return svd(a).u; }},
      {"s", [](Tensor a) { return singular_values(a); }},
      {"vt", [](Tensor a) { return svd(a).vt; }},
      {"pinv", [](Tensor a) { return pinv(a); }},
  };
  for (const Shape& shape : {Shape{2, 4}, Shape{4, 2}, Shape{2, 1, 3}, Shape{2, 3, 1}}) {
    Tensor x = random_matrix(shape, 11);
    for (const auto& [name, f] : of_any_shape) expect_right_derivatives(name, f, x);
  }
}

TEST(MatrixDerivatives, of_triangular_systems_equal_differences) {
  for (const bool lower : {false, true}) {
    for (const bool transposed : {false, true}) {
      for (const bool unit : {false, true}) {
        const TriangularSolve options{lower, transposed, unit};
        const auto f = [&](Tensor a) { return triangular_solve(a, sin(a), options); };
        expect_right_derivatives("triangular_solve", f, regular({2}, 5));
      }
    }
  }
}

TEST(MatrixDerivatives, in_batches_are_those_of_the_loop) {
  const Tensor many = regular({3}, 8);
  for (const auto& [name, f] : functions) {
    const auto gradient = grad([f = f](Tensor a) { return weighted(f(a)); });
    const Tensor at_once = vmap(gradient)(many);
    for (std::int64_t i = 0; i < 3; ++i) expect_near(at_once(i), gradient(many(i)), 1e-13);
  }
}

TEST(MatrixDerivatives, of_the_right_side_take_no_factorization_for_each_lane) {
  const Tensor a = invertible({}, 4, 3);
  const auto f = [&](Tensor b) { return solve(a, b); };
  const Program lanes = program(vmap(f), f64[{5, 4}]);
  for (std::size_t i = 0; i < lanes.step_count(); ++i) {
    const Step step = lanes.step(i);
    if (step.primitive.name != "lu_solve") continue;
    EXPECT_EQ(lanes.type(step.operands[0]), (f64[{4, 4}]));
    EXPECT_EQ(lanes.type(step.operands[3]), (f64[{4, 5}]));
  }
  expect_near(jacobian(f)(ones({4})), inverse(a));
}

TEST(MatrixDerivatives, of_solve_use_the_factors_at_hand) {
  const auto f = [](Tensor a, Tensor b) { return sum(solve(a, b)); };
  const Program both = program(grad(f, wrt<0, 1>), f64[{4, 4}], f64[{4}]);
  int factorizations = 0;
  int solutions = 0;
  for (std::size_t i = 0; i < both.step_count(); ++i) {
    factorizations += both.step(i).primitive.name == "lu";
    solutions += both.step(i).primitive.name == "lu_solve";
  }
  EXPECT_EQ(factorizations, 1);
  EXPECT_EQ(solutions, 2);
}

TEST(MatrixDerivatives, of_cholesky_are_symmetrised) {
  const auto f = [](Tensor a) { return weighted(cholesky(a)); };
  const Tensor gradient = grad(f)(positive_definite({}, 4, 2));
  EXPECT_TRUE(array_equal(gradient, gradient.T()));
}

TEST(MatrixDerivatives, of_determinants_are_cofactors_whatever_the_rank) {
  const Tensor x = random_matrix({5, 5}, 3);
  for (const std::int64_t rank : {5, 4, 3, 2, 1, 0}) {
    const Tensor a = matmul(x(all, Range{0, rank}), x(Range{0, rank}, all));
    // Minors by the Laplace expansion of smaller determinants, which are LU.
    std::vector<double> minors;
    for (std::int64_t i = 0; i < 5; ++i) {
      for (std::int64_t j = 0; j < 5; ++j) {
        const auto others = [](std::int64_t k) {
          std::vector<std::int64_t> list;
          for (std::int64_t l = 0; l < 5; ++l) {
            if (l != k) list.push_back(l);
          }
          return tensor(list);
        };
        const Tensor minor = take(take(a, others(i), 0), others(j), 1);
        minors.push_back((i + j) % 2 ? -determinant(minor).item() : determinant(minor).item());
      }
    }
    const Tensor want = tensor(minors, {5, 5});
    expect_near(cofactor(a), want, 1e-13);
    expect_near(grad([](Tensor m) { return determinant(m); })(a), want, 1e-13);
    // The squares are there to compare with: of rank 3 and less the derivatives are 0.
    const auto beside = [](Tensor m) { return determinant(m) + 0.5 * sum(m * m); };
    expect_right_derivatives("determinant", beside, a);
  }
}

TEST(MatrixDerivatives, of_determinants_to_second_order_hold_at_the_unit_matrix_and_at_zero) {
  // ∂²det/∂aᵢᵢ∂aⱼⱼ = 1 and ∂²det/∂aᵢⱼ∂aⱼᵢ = −1 at the unit matrix, whose singular values are equal.
  const auto f = [](Tensor m) { return determinant(m); };
  const Tensor second = hessian(f)(eye(3));
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t k = 0; k < 3; ++k) {
        for (std::int64_t l = 0; l < 3; ++l) {
          const bool straight = i == j && k == l && i != k;
          const bool crossed = i == l && j == k && i != j;
          EXPECT_NEAR(second(i, j, k, l).item(), straight ? 1 : crossed ? -1 : 0, 1e-15);
        }
      }
    }
  }
  EXPECT_EQ(largest_of(hessian(f)(zeros({3, 3}))), 0);
}

TEST(MatrixDerivatives, of_equal_eigenvalues_are_right_and_finite) {
  const auto total = [](Tensor a) { return sum(eigvalsh(a)); };
  const auto largest = [](Tensor a) { return sum(exp(eigvalsh(a))); };
  for (const Tensor& a : {eye(3), zeros({3, 3}), diagonal_matrix(tensor({1.0, 2.0, 1.0}))}) {
    expect_near(grad(total)(a), eye(3), 1e-15);
    expect_near(grad(largest)(a), expm(a), 1e-14);
    const Tensor direction = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 9.0}});
    EXPECT_NEAR(jvp(total)(a, direction).second.item(), 15, 1e-13);
    EXPECT_EQ(largest_of(hvp(total)(a, direction)), 0);
    for (double value :
         jvp([](Tensor m) { return eigh(m).vectors; })(a, direction).second.to_vector())
      EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(MatrixDerivatives, of_what_equal_eigenvectors_span_are_right) {
  // The projection p on the space of the value 2, apart by 1: dp = p·da·(1 − p) + (1 − p)·da·p.
  const Tensor a = diagonal_matrix(tensor({1.0, 2.0, 1.0}));
  const auto projection = [](Tensor m) {
    const Tensor v = eigh(m).vectors(all, Range{2, 3});
    return matmul(v, v.T());
  };
  const auto rest = [](Tensor m) {
    const Tensor v = eigh(m).vectors(all, Range{0, 2});
    return matmul(v, v.T());
  };
  const Tensor da = tensor({{1.0, 2.0, 3.0}, {2.0, 5.0, 6.0}, {3.0, 6.0, 9.0}});
  const Tensor want = tensor({{0.0, 2.0, 0.0}, {2.0, 0.0, 6.0}, {0.0, 6.0, 0.0}});
  expect_near(jvp(projection)(a, da).second, want, 1e-14);
  expect_near(jvp(rest)(a, da).second, -want, 1e-14);
}

TEST(MatrixDerivatives, of_equal_singular_values_are_right_and_finite) {
  const auto nuclear = [](Tensor a) { return matrix_norm(a, MatrixNorm::nuclear); };
  const auto polar = [](Tensor a) {
    const Svd f = svd(a);
    return matmul(f.u, f.vt);
  };
  for (const Tensor& a : {eye(3), 2.0 * qr(random_matrix({3, 3}, 5)).q}) {
    expect_near(grad(nuclear)(a), polar(a), 1e-14);
    const auto first = [&](Tensor m) { return weighted(polar(m)); };
    const DerivativeReport report = check_derivatives(first, a);
    EXPECT_TRUE(report.ok()) << report;
  }
}

TEST(MatrixDerivatives, of_norms_at_zero_are_zero) {
  for (const MatrixNorm kind : {MatrixNorm::frobenius, MatrixNorm::nuclear, MatrixNorm::one,
                                MatrixNorm::infinity, MatrixNorm::two}) {
    const auto f = [&](Tensor a) { return matrix_norm(a, kind); };
    EXPECT_EQ(largest_of(grad(f)(zeros({3, 2}))), 0);
    EXPECT_EQ(f(zeros({0, 2})).item(), 0);
    EXPECT_EQ(f(zeros({2, 0})).item(), 0);
  }
}

TEST(MatrixDerivatives, of_pseudoinverses_keep_the_rank) {
  // Along directions that keep rank 2 they are those of differences.
  const Tensor left = random_matrix({5, 2}, 1);
  const Tensor right = random_matrix({2, 3}, 2);
  const auto f = [&](Tensor t) { return pinv(matmul(left + t * random_matrix({5, 2}, 3), right)); };
  expect_right_derivatives("pinv", f, Tensor(0.0));
  expect_near(grad([](Tensor a) { return sum(pinv(a)); })(eye(3)), -ones({3, 3}));
}

}  // namespace
}  // namespace hom
