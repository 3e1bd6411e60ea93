// tests/cases/reports_singular_test.cc -- derivatives at singular points, and of branches not taken
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::array<Dtype, 4> float_dtypes{f64, f32, f16, bf16};

// Row 1.

TEST(Reports, a_branch_not_taken_does_not_poison_the_gradient) {
  const auto f = [](Tensor x) { return where(x < 1, x, sqrt(x)); };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient(f, tensor(0.0, dtype)), 1));
    EXPECT_TRUE(near(gradient(f, tensor(-2.0, dtype)), 1));
    EXPECT_TRUE(near(gradient(f, tensor(4.0, dtype)), 0.25));
  }
  EXPECT_TRUE(near(second_derivative(f, 0.0), 0));
  EXPECT_TRUE(near(second_derivative(f, -2.0), 0));
  EXPECT_TRUE(near(second_derivative(f, 4.0), -1. / 32));
}

TEST(Reports, any_singular_function_may_stand_in_the_branch_not_taken) {
  // Each has an infinite or undefined slope at 0, and most have an infinite or undefined value.
  const std::vector<std::function<Tensor(Tensor)>> singular{
      [](Tensor x) { return sqrt(x); },      [](Tensor x) { return rsqrt(x); },
      [](Tensor x) { return log(x); },       [](Tensor x) { return 1 / x; },
      [](Tensor x) { return x / x; },        [](Tensor x) { return pow(x, 0.5); },
      [](Tensor x) { return pow(x, -2.0); }, [](Tensor x) { return log1p(x - 1); },
      [](Tensor x) { return asin(1 - x); },  [](Tensor x) { return acos(x - 1); },
      [](Tensor x) { return acosh(1 + x); }, [](Tensor x) { return atanh(1 - x); },
      [](Tensor x) { return atan2(x, x); },  [](Tensor x) { return x * log(x); },
      [](Tensor x) { return exp(1 / x); },   [](Tensor x) { return sin(1 / x) * sqrt(x); },
      [](Tensor x) { return 1 % x; },
  };
  for (std::size_t i = 0; i < singular.size(); ++i) {
    SCOPED_TRACE("function " + std::to_string(i));
    const auto& g = singular[i];
    const auto on_the_right = [&](Tensor x) { return where(x > 0, g(x), 3 * x); };
    const auto on_the_left = [&](Tensor x) { return where(x <= 0, 3 * x, g(x)); };
    EXPECT_TRUE(near(gradient(on_the_right, 0.0), 3));
    EXPECT_TRUE(near(gradient(on_the_left, 0.0), 3));
    EXPECT_TRUE(near(second_derivative(on_the_right, 0.0), 0));
    const auto batch = [&](Tensor x) { return sum(on_the_right(x)); };
    for (const Dtype dtype : float_dtypes) {
      const Tensor slope = gradient(batch, vector_of({0, -1, 0}, dtype));
      EXPECT_TRUE(near(slope, {3, 3, 3}));
    }
  }
}

TEST(Reports, a_masked_row_stays_masked_through_views_and_sums) {
  const auto f = [](Tensor x) {
    const Tensor rows = reshape(x, {2, 2});
    const Tensor mask = expand_dims(sum(rows, 1) > 0, 1);
    return sum(transpose(where(broadcast_to(mask, {2, 2}), log(rows), 0)));
  };
  EXPECT_TRUE(near(gradient(f, tensor({0.0, 0.0, 2.0, 4.0})), {0, 0, 0.5, 0.25}));
  const auto outside = [](Tensor x) { return where(false, sum(sqrt(x)), sum(x)); };
  EXPECT_TRUE(near(gradient(outside, zeros({3})), {1, 1, 1}));
}

TEST(Reports, a_zero_cotangent_meets_an_infinite_slope) {
  const auto pullback = vjp([](Tensor x) { return sqrt(x); })(tensor({0.0, 4.0})).second;
  EXPECT_TRUE(near(pullback(tensor({0.0, 1.0})), {0, 0.25}));
  const Tensor tangent =
      jvp([](Tensor x) { return sqrt(x); })(tensor({0.0, 4.0}), tensor({0.0, 1.0})).second;
  EXPECT_TRUE(near(tangent, {0, 0.25}));
  // What is really infinite stays infinite.
  EXPECT_TRUE(near(gradient([](Tensor x) { return sqrt(x); }, 0.0), infinity));
}

// Row 3.

TEST(Reports, norm_at_zero_has_gradient_zero) {
  const auto f = [](Tensor x) { return norm(x); };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient(f, vector_of({0, 0, 0}, dtype)), {0, 0, 0}));
    EXPECT_TRUE(near(gradient(f, vector_of({3, 0, -4}, dtype)), {0.6, 0, -0.8}));
    EXPECT_TRUE(near(gradient(f, zeros({}, dtype)), 0));
    EXPECT_TRUE(near(gradient(f, zeros({2, 2}, dtype)), {0, 0, 0, 0}));
  }
}

TEST(Reports, norm_of_a_zero_row_leaves_the_other_rows_alone) {
  const Tensor rows = tensor({{0.0, 0.0}, {3.0, 4.0}});
  const auto along = [](std::int64_t axis) {
    return [axis](Tensor x) { return sum(norm(x, axis)); };
  };
  EXPECT_TRUE(near(gradient(along(1), rows), {0, 0, 0.6, 0.8}));
  EXPECT_TRUE(near(gradient(along(0), rows.T()), {0, 0.6, 0, 0.8}));
  const auto normalised = [](Tensor x) { return x / (norm(x, -1, Keep::yes) + 1); };
  EXPECT_TRUE(near(jacobian_in_both_modes(normalised, zeros({1, 2})), {1, 0, 0, 1}));
}

// Row 5.

TEST(Reports, squared_norm_at_zero_has_gradient_zero) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor zero = zeros({2}, dtype);
    EXPECT_TRUE(near(gradient([](Tensor x) { return pow(norm(x), 2); }, zero), {0, 0}));
    EXPECT_TRUE(near(gradient([](Tensor x) { return square(norm(x)); }, zero), {0, 0}));
  }
  EXPECT_TRUE(near(gradient([](Tensor x) { return pow(norm(x), 2); }, tensor({3.0, 4.0})), {6, 8}));
}

TEST(Reports, distance_to_the_reference_at_the_reference_has_gradient_zero) {
  const auto f = [](Tensor y, Tensor reference) { return 0.5 * pow(norm(y - reference), 2); };
  const Tensor y = tensor({1.5, -2.0, 0.1});
  const auto [dy, dreference] = gradients(f, y, y);
  EXPECT_TRUE(near(f(y, y), 0));
  EXPECT_TRUE(near(dy, {0, 0, 0}));
  EXPECT_TRUE(near(dreference, {0, 0, 0}));
  const auto from_zero = [&](Tensor x) { return f(x, zeros({3})); };
  EXPECT_TRUE(near(gradient(from_zero, y), {1.5, -2, 0.1}));
  EXPECT_TRUE(near(second_derivative(from_zero, y), {1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

// Row 8.

TEST(Reports, standard_deviation_of_equal_elements_has_gradient_zero) {
  const auto f = [](Tensor x) { return standard_deviation(x); };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient(f, vector_of({1, 1}, dtype)), {0, 0}));
    EXPECT_TRUE(near(gradient(f, vector_of({2.5}, dtype)), 0));
    EXPECT_TRUE(near(gradient(f, vector_of({1, 3}, dtype)), {-0.5, 0.5}));
  }
  // The mean of three tenths is rounded.
  EXPECT_TRUE(near(gradient(f, tensor({0.1, 0.1, 0.1})), {0, 0, 0}));
  const auto sample = [](Tensor x) { return sum(standard_deviation(x, 1, Keep::no, 1)); };
  const double slope = 1 / std::numbers::sqrt2;
  EXPECT_TRUE(near(gradient(sample, tensor({{1.0, 1.0}, {1.0, 3.0}})), {0, 0, -slope, slope}));
}

// Row 10.

TEST(Reports, arccos_of_a_clipped_value_is_flat_outside) {
  const auto clipped_acos = [](Tensor y) { return acos(clamp(y, -1, 1)); };
  const auto clipped_asin = [](Tensor y) { return asin(minimum(maximum(y, -1), 1)); };
  for (const Dtype dtype : float_dtypes) {
    for (const double y : {10.0, -10.0, infinity, -infinity}) {
      EXPECT_TRUE(near(gradient(clipped_acos, tensor(y, dtype)), 0));
      EXPECT_TRUE(near(gradient(clipped_asin, tensor(y, dtype)), 0));
    }
    EXPECT_TRUE(near(gradient(clipped_acos, tensor(0.0, dtype)), -1));
  }
  EXPECT_TRUE(near(second_derivative(clipped_acos, 10.0), 0));
  // At the bound the clip has slope 1, so the slope is that of acos.
  EXPECT_TRUE(near(gradient(clipped_acos, 1.0), -infinity));
  const auto others = [](Tensor y) {
    return atanh(clamp(y, -1, 1)) + sqrt(clamp(y + 5, 0, 1)) + log(clamp(y + 5, 0, 1));
  };
  EXPECT_TRUE(near(gradient(others, -10.0), 0));
}

// Row 11.

TEST(Reports, sinc_is_smooth_at_zero) {
  const auto f = [](Tensor x) { return sinc(x); };
  const double pi = std::numbers::pi;
  EXPECT_TRUE(near(f(0.0), 1));
  EXPECT_TRUE(near(gradient(f, 0.0), 0));
  EXPECT_TRUE(near(second_derivative(f, 0.0), -pi * pi / 3));
  EXPECT_TRUE(near(grad(grad(grad(grad(f))))(0.0), std::pow(pi, 4) / 5));
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient(f, tensor(0.0, dtype)), 0));
    EXPECT_TRUE(near(second_derivative(f, tensor(0.0, dtype)), -pi * pi / 3));
  }
}

TEST(Reports, sinc_elsewhere_is_sine_over_x) {
  const auto f = [](Tensor x) { return sinc(x); };
  const double pi = std::numbers::pi;
  // 1/π is where the series ends.
  for (const double x :
       {-3.5, -1.0, -0.5, 1e-9, 0.1, 0.3183098861837906, 0.3183098861837907, 0.32, 2.25}) {
    const double u = pi * x;
    EXPECT_TRUE(near(f(x), std::sin(u) / u)) << x;
    if (std::abs(x) < 1e-3) continue;  // the closed forms cancel there
    EXPECT_TRUE(near(gradient(f, x), {pi * (std::cos(u) / u - std::sin(u) / (u * u))}, 1e-11)) << x;
    const double second =
        pi * pi * (-std::sin(u) / u - 2 * std::cos(u) / (u * u) + 2 * std::sin(u) / (u * u * u));
    EXPECT_TRUE(near(second_derivative(f, x), {second}, 1e-11)) << x;
  }
}

// Row 13.

TEST(Reports, saturated_functions_have_slope_zero_and_not_nan) {
  const std::vector<std::function<Tensor(Tensor)>> saturating{
      [](Tensor x) { return tanh(x); },
      [](Tensor x) { return logistic(x); },
      [](Tensor x) { return erf(x); },
      [](Tensor x) { return softplus(x) - maximum(x, 0); },
      [](Tensor x) { return log_sigmoid(x) - minimum(x, 0); },
      [](Tensor x) { return silu(x) - relu(x); },
      [](Tensor x) { return gelu(x) - relu(x); },
  };
  for (std::size_t i = 0; i < saturating.size(); ++i) {
    SCOPED_TRACE("function " + std::to_string(i));
    for (const double x : {100.0, -100.0, 30000.0, -30000.0}) {
      for (const Dtype dtype : float_dtypes) {
        EXPECT_TRUE(near(gradient(saturating[i], tensor(x, dtype)), 0)) << x;
        EXPECT_TRUE(near(second_derivative(saturating[i], tensor(x, dtype)), 0)) << x;
      }
    }
  }
  EXPECT_TRUE(near(gradient([](Tensor x) { return tanh(x); }, infinity), 0));
  EXPECT_TRUE(near(gradient([](Tensor x) { return erf(x); }, -infinity), 0));
}

// Row 15.

TEST(Reports, the_gradient_of_cond_computes_no_nan) {
  const auto naive_norm = [](Tensor x) { return sqrt(sum(x * x)); };
  const auto f = [&](Tensor x) {
    return cond(all_of(x == 0), [](Tensor) { return Tensor(0.0); }, naive_norm, x);
  };
  WatchingExecutor executor;
  const ExecutorScope scope(executor);
  EXPECT_TRUE(near(gradient(f, zeros({3})), {0, 0, 0}));
  EXPECT_TRUE(near(gradient(f, tensor({3.0, 0.0, 4.0})), {0.6, 0, 0.8}));
  EXPECT_FALSE(executor.saw_nan);
  const auto by_rows = [&](Tensor x) {
    Tensor total = 0.0;
    for (int row = 0; row < 4; ++row) total += f(x[row]);
    return total;
  };
  EXPECT_TRUE(near(gradient(by_rows, zeros({4, 3})), std::vector<double>(12, 0)));
  EXPECT_FALSE(executor.saw_nan);
  EXPECT_TRUE(near(gradient([](Tensor x) { return sum(norm(x, 1)); }, zeros({4, 3})),
                   std::vector<double>(12, 0)));
  EXPECT_FALSE(executor.saw_nan);
  // Both branches run for all rows.
  EXPECT_TRUE(near(vmap(grad(f))(zeros({4, 3})), std::vector<double>(12, 0)));
  const Tensor mixed = tensor({{0.0, 0.0, 0.0}, {3.0, 0.0, 4.0}});
  EXPECT_TRUE(near(vmap(grad(f))(mixed), {0, 0, 0, 0.6, 0, 0.8}));
  EXPECT_TRUE(
      near(gradient([&](Tensor x) { return sum(vmap(f)(x)); }, mixed), {0, 0, 0, 0.6, 0, 0.8}));
  EXPECT_FALSE(executor.saw_nan);
}

// Row 16.

TEST(Reports, if_else_of_a_square_root) {
  const auto by_where = [](Tensor x) { return where(x > 0, sqrt(x), 0); };
  const auto by_cond = [](Tensor x) {
    return cond(x > 0, [](Tensor a) { return sqrt(a); }, [](Tensor a) { return zeros_like(a); }, x);
  };
  const auto check = [](const auto& f) {
    for (const Dtype dtype : float_dtypes) {
      EXPECT_TRUE(near(gradient(f, tensor(-1.0, dtype)), 0));
      EXPECT_TRUE(near(gradient(f, tensor(0.0, dtype)), 0));
      EXPECT_TRUE(near(gradient(f, tensor(1.0, dtype)), 0.5));
    }
    EXPECT_TRUE(near(second_derivative(f, -3.0), 0));
    EXPECT_TRUE(near(second_derivative(f, 0.0), 0));
    EXPECT_TRUE(near(second_derivative(f, 1.0), -0.25));
  };
  check(by_where);
  check(by_cond);
}

// Row 18.

TEST(Reports, cosine_of_a_guarded_norm_has_jacobian_zero_at_zero) {
  const auto by_where = [](Tensor x) {
    const Tensor length = norm(x);
    return where(length > 0, cos(length), 1);
  };
  const auto naive = [](Tensor x) {
    const Tensor length = sqrt(sum(x * x));
    return where(length > 0, sin(length) / length, 1);
  };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(by_where(zeros({3}, dtype)), 1));
    EXPECT_TRUE(near(jacobian_in_both_modes(by_where, zeros({3}, dtype)), {0, 0, 0}));
    EXPECT_TRUE(near(jacobian_in_both_modes(naive, zeros({3}, dtype)), {0, 0, 0}));
  }
  const Tensor x = tensor({0.6, 0.0, 0.8});
  const double slope = -std::sin(1.0);
  EXPECT_TRUE(near(jacobian_in_both_modes(by_where, x), {0.6 * slope, 0, 0.8 * slope}));
}

}  // namespace
}  // namespace hom::cases
