// tests/cases/reports_ties_test.cc -- powers, hypotenuses, absolute values, ties of extremes,
// bounds of clamps
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <cmath>
#include <limits>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::array<Dtype, 4> float_dtypes{f64, f32, f16, bf16};

// Row 20.

TEST(Reports, the_square_of_a_zero_difference_has_gradient_zero) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor zero = zeros({}, dtype);
    const auto by_number = gradients([](Tensor x, Tensor y) { return pow(x - y, 2); }, zero, zero);
    EXPECT_TRUE(near(by_number[0], 0));
    EXPECT_TRUE(near(by_number[1], 0));
    const auto by_tensor = [](Tensor x, Tensor y) { return pow(x - y, full({}, 2.0, x.dtype())); };
    const auto [dx, dy] = gradients(by_tensor, zero, zero);
    EXPECT_TRUE(near(dx, 0));
    EXPECT_TRUE(near(dy, 0));
  }
}

TEST(Reports, powers_at_zero_to_the_second_derivative) {
  struct Row {
    double exponent, value, first, second;
  };
  const std::vector<Row> rows{{0, 1, 0, 0}, {1, 0, 1, 0},          {2, 0, 0, 2},
                              {3, 0, 0, 0}, {1.5, 0, 0, infinity}, {0.5, 0, infinity, -infinity}};
  for (const Row& row : rows) {
    for (const Dtype dtype : float_dtypes) {
      const auto f = [&](Tensor x) { return pow(x, row.exponent); };
      const Tensor zero = zeros({}, dtype);
      EXPECT_TRUE(near(f(zero), row.value)) << row.exponent;
      EXPECT_TRUE(near(gradient(f, zero), row.first)) << row.exponent;
      EXPECT_TRUE(near(second_derivative(f, zero), row.second)) << row.exponent;
    }
  }
}

TEST(Reports, derivatives_of_a_power_in_base_and_exponent) {
  const auto f = [](Tensor x, Tensor y) { return pow(x, y); };
  const auto [dx, dy] = gradients(f, Tensor(2.0), Tensor(3.0));
  EXPECT_TRUE(near(dx, 12));
  EXPECT_TRUE(near(dy, 8 * std::log(2.0)));
  // 0^y is 0 for positive y, and so is its slope in y.
  const auto [zero_dx, zero_dy] = gradients(f, Tensor(0.0), Tensor(2.0));
  EXPECT_TRUE(near(zero_dx, 0));
  EXPECT_TRUE(near(zero_dy, 0));
  const auto rows = hessian(f, wrt<0, 1>)(2.0, 3.0);
  EXPECT_TRUE(near(std::get<0>(std::get<0>(rows)), 12));
  EXPECT_TRUE(near(std::get<1>(std::get<0>(rows)), 4 + 12 * std::log(2.0)));
  EXPECT_TRUE(near(std::get<0>(std::get<1>(rows)), 4 + 12 * std::log(2.0)));
  EXPECT_TRUE(near(std::get<1>(std::get<1>(rows)), 8 * std::log(2.0) * std::log(2.0)));
}

// Row 21.

TEST(Reports, zero_to_the_zero_of_a_fractional_part_is_flat) {
  const auto f = [](Tensor x) { return pow(x - floor(x), 0); };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(f(tensor(1.0, dtype)), 1));
    EXPECT_TRUE(near(gradient(f, tensor(1.0, dtype)), 0));
    EXPECT_TRUE(near(gradient(f, tensor(1.5, dtype)), 0));
  }
  EXPECT_TRUE(near(second_derivative(f, 1.0), 0));
  const auto by_tensor = [](Tensor x) { return pow(x - floor(x), Tensor(0.0)); };
  EXPECT_TRUE(near(gradient(by_tensor, 1.0), 0));
}

// Row 23.

TEST(Reports, a_difference_to_the_power_of_its_subtrahend) {
  const auto f = [](Tensor p, Tensor q) { return pow(p - q, q); };
  for (const Dtype dtype : float_dtypes) {
    const Tensor one = ones({2}, dtype);
    const Tensor ct = full({2}, 123, dtype);
    const auto [dp, dq] = vjp(f, wrt<0, 1>)(one, one).second(ct);
    EXPECT_TRUE(near(dp, {123, 123}));
    EXPECT_TRUE(near(dq, {-123, -123}));
    EXPECT_TRUE(near(jvp(f, wrt<0>)(one, one, ct).second, {123, 123}));
    EXPECT_TRUE(near(jvp(f, wrt<1>)(one, one, ct).second, {-123, -123}));
    EXPECT_TRUE(near(jvp(f, wrt<0, 1>)(one, one, ct, ct).second, {0, 0}));
  }
}

// Row 25.

TEST(Reports, hessian_of_rosenbrock) {
  const auto f = [](Tensor p) { return pow(1 - p[0], 2) + 100 * pow(p[1] - p[0] * p[0], 2); };
  EXPECT_TRUE(near(second_derivative(f, tensor({0.0, 0.0})), {2, 0, 0, 200}));
  EXPECT_TRUE(near(second_derivative(f, tensor({1.0, 1.0})), {802, -400, -400, 200}));
  EXPECT_TRUE(near(gradient(f, tensor({1.0, 1.0})), {0, 0}));
  EXPECT_TRUE(near(gradient(f, tensor({0.0, 0.0})), {-2, 0}));
  const auto g = [](Tensor x, Tensor y) { return pow(1 - x, 2) + 100 * pow(y - x * x, 2); };
  const auto [row_x, row_y] = hessian(g, wrt<0, 1>)(1.0, 1.0);
  EXPECT_TRUE(near(std::get<0>(row_x), 802));
  EXPECT_TRUE(near(std::get<1>(row_x), -400));
  EXPECT_TRUE(near(std::get<0>(row_y), -400));
  EXPECT_TRUE(near(std::get<1>(row_y), 200));
}

// Row 26.

const auto hypot_of = [](Tensor p) { return hypot(p[0], p[1]); };

TEST(Reports, hessian_of_hypot) {
  const double h = 0.35355339059327376;  // 1/√8
  EXPECT_TRUE(near(second_derivative(hypot_of, tensor({1.0, 1.0})), {h, -h, -h, h}));
  EXPECT_TRUE(near(second_derivative(hypot_of, tensor({3.0, -4.0})), {0.128, 0.096, 0.096, 0.072}));
  EXPECT_TRUE(near(second_derivative(hypot_of, tensor({0.0, 5.0})), {0.2, 0, 0, 0}));
}

TEST(Reports, gradient_of_hypot_where_it_is_zero_tiny_or_huge) {
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient(hypot_of, zeros({2}, dtype)), {0, 0}));
    EXPECT_TRUE(near(gradient(hypot_of, vector_of({3, 4}, dtype)), {0.6, 0.8}));
    EXPECT_TRUE(near(gradient(hypot_of, vector_of({0, -2}, dtype)), {0, -1}));
    EXPECT_TRUE(near(gradient(hypot_of, vector_of({30000, 40000}, dtype)), {0.6, 0.8}));
  }
  EXPECT_TRUE(near(gradient(hypot_of, tensor({3e300, 4e300})), {0.6, 0.8}));
  EXPECT_TRUE(near(gradient(hypot_of, tensor({3e-300, -4e-300})), {0.6, -0.8}));
  EXPECT_TRUE(near(hypot(3e300, 4e300) / 1e300, 5));
}

// Row 28.

TEST(Reports, an_undefined_slope_in_the_exponent_does_not_reach_the_base) {
  const auto f = [](Tensor x, Tensor y) { return pow(x, y); };
  for (const Dtype dtype : float_dtypes) {
    const Tensor base = tensor(-2.0, dtype);
    const Tensor exponent = tensor(2.0, dtype);
    EXPECT_TRUE(near(f(base, exponent), 4));
    EXPECT_TRUE(near(gradient_in<0>(f, base, exponent), -4));
    const auto [dx, dy] = grad(f, wrt<0, 1>)(base, exponent);
    EXPECT_TRUE(near(dx, -4));
    EXPECT_TRUE(near(dy, nan));
    EXPECT_TRUE(near(jvp(f, wrt<0, 1>)(base, exponent, 1.0, 0.0).second, -4));
  }
  EXPECT_TRUE(near(gradient([](Tensor x) { return pow(x, 2); }, -2.0), -4));
  EXPECT_TRUE(near(second_derivative([](Tensor x) { return pow(x, 3); }, -2.0), -12));
}

// Row 30.

TEST(Reports, a_tie_of_maximum_shares_the_gradient_in_both_argument_orders) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor zero = zeros({}, dtype);
    EXPECT_TRUE(near(gradient([](Tensor x) { return maximum(x, 0); }, zero), 0.5));
    EXPECT_TRUE(near(gradient([](Tensor x) { return maximum(0, x); }, zero), 0.5));
    EXPECT_TRUE(near(gradient([](Tensor x) { return minimum(x, 0); }, zero), 0.5));
    EXPECT_TRUE(near(gradient([](Tensor x) { return minimum(0, x); }, zero), 0.5));
    for (const bool largest : {true, false}) {
      const auto f = [&](Tensor x, Tensor y) { return largest ? maximum(x, y) : minimum(x, y); };
      const auto [dx, dy] = gradients(f, zero, zero);
      EXPECT_TRUE(near(dx, 0.5));
      EXPECT_TRUE(near(dy, 0.5));
      // 0 and −0 tie.
      const auto signed_zeros = gradients(f, zero, -zero);
      EXPECT_TRUE(near(signed_zeros[0], 0.5));
      EXPECT_TRUE(near(signed_zeros[1], 0.5));
    }
    EXPECT_TRUE(near(gradient([](Tensor x) { return maximum(x, x); }, zero), 1));
    EXPECT_TRUE(
        near(gradient([](Tensor x) { return sum(maximum(x, 0)); }, vector_of({-1, 0, 1}, dtype)),
             {0, 0.5, 1}));
    EXPECT_TRUE(
        near(gradient([](Tensor x) { return sum(minimum(x, 0)); }, vector_of({-1, 0, 1}, dtype)),
             {1, 0.5, 0}));
  }
}

TEST(Reports, relu_at_zero_has_slope_zero) {
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient([](Tensor x) { return relu(x); }, zeros({}, dtype)), 0));
    const Tensor x = vector_of({-2, -0.0, 0, 3}, dtype);
    EXPECT_TRUE(near(relu(x), {0, 0, 0, 3}));
    EXPECT_TRUE(near(relu(vector_of({nan}, dtype)), nan)) << "as maximum does";
    EXPECT_TRUE(near(gradient([](Tensor v) { return sum(relu(v)); }, x), {0, 0, 0, 1}));
  }
}

TEST(Reports, abs_and_sign_are_flat_at_zero) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = vector_of({-2, 0, 3}, dtype);
    EXPECT_TRUE(near(gradient([](Tensor v) { return sum(abs(v)); }, x), {-1, 0, 1}));
    EXPECT_TRUE(near(gradient([](Tensor v) { return sum(sign(v)); }, x), {0, 0, 0}));
  }
  EXPECT_TRUE(near(second_derivative([](Tensor x) { return abs(x); }, 0.0), 0));
}

// Row 31.

TEST(Reports, ties_of_a_reduction_share_the_gradient) {
  const auto largest = [](Tensor x) { return max(x); };
  const auto smallest = [](Tensor x) { return min(x); };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(gradient(largest, vector_of({1, 1}, dtype)), {0.5, 0.5}));
    EXPECT_TRUE(near(gradient(smallest, vector_of({1, 1}, dtype)), {0.5, 0.5}));
    EXPECT_TRUE(near(gradient(largest, vector_of({2, 5, 5, 1, 5, 5}, dtype)),
                     {0, 0.25, 0.25, 0, 0.25, 0.25}));
    EXPECT_TRUE(near(gradient(smallest, vector_of({2, 5, 2}, dtype)), {0.5, 0, 0.5}));
  }
  const Tensor table = tensor({{1.0, 3.0, 3.0}, {1.0, 0.0, 3.0}});
  EXPECT_TRUE(
      near(gradient([](Tensor x) { return sum(max(x, 1)); }, table), {0, 0.5, 0.5, 0, 0, 1}));
  EXPECT_TRUE(
      near(gradient([](Tensor x) { return sum(max(x, 0)); }, table), {0.5, 1, 0.5, 0.5, 0, 0.5}));
  EXPECT_TRUE(near(gradient(largest, table), {0, 1. / 3, 1. / 3, 0, 0, 1. / 3}));
  EXPECT_TRUE(near(gradient([](Tensor x) { return max_or(x, 3); }, table),
                   {0, 1. / 6, 1. / 6, 0, 0, 1. / 6}));
}

TEST(Reports, ties_of_a_running_extreme_share_the_gradient) {
  const auto last = [](Tensor x) { return cummax(x)[-1]; };
  EXPECT_TRUE(near(gradient(last, tensor({2.0, 1.0, 2.0})), {0.5, 0, 0.5}));
  const auto total = [](Tensor x) { return sum(cummax(x)); };
  EXPECT_TRUE(near(gradient(total, tensor({2.0, 1.0, 2.0})), {2.5, 0, 0.5}));
  const auto total_of_minima = [](Tensor x) { return sum(cummin(x, 0, true)); };
  EXPECT_TRUE(near(gradient(total_of_minima, tensor({2.0, 3.0, 2.0})), {0.5, 0, 2.5}));
}

// Row 33.

TEST(Reports, clamp_has_slope_one_at_its_bounds) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = vector_of({-1, 0, 0.5, 1, 2}, dtype);
    EXPECT_TRUE(near(gradient([](Tensor v) { return sum(clamp(v, 0, 1)); }, x), {0, 1, 1, 1, 0}));
    const auto by_tensors = [](Tensor v) { return sum(clamp(v, zeros_like(v), ones_like(v))); };
    EXPECT_TRUE(near(gradient(by_tensors, x), {0, 1, 1, 1, 0}));
    EXPECT_TRUE(near(clamp(x, 0, 1), {0, 0, 0.5, 1, 1}));
  }
  const auto f = [](Tensor x, Tensor low, Tensor high) { return clamp(x, low, high); };
  const auto below = gradients(f, Tensor(-1.0), Tensor(0.0), Tensor(1.0));
  EXPECT_TRUE(near(below[0], 0));
  EXPECT_TRUE(near(below[1], 1));
  EXPECT_TRUE(near(below[2], 0));
  const auto at_upper = gradients(f, Tensor(1.0), Tensor(0.0), Tensor(1.0));
  EXPECT_TRUE(near(at_upper[0], 1));
  EXPECT_TRUE(near(at_upper[1], 0));
  EXPECT_TRUE(near(at_upper[2], 0));
  EXPECT_TRUE(near(clamp(nan, 0, 1), nan));
}

// Row 35.

TEST(Reports, hessian_of_the_smaller_square_follows_the_values) {
  const auto f = [](Tensor p) { return minimum(p[0] * p[0], p[1] * p[1]); };
  const auto second = hessian(f);
  EXPECT_TRUE(near(second(tensor({2.0, 1.0})), {0, 0, 0, 2}));
  // The same function object at other values.
  EXPECT_TRUE(near(second(tensor({1.0, 2.0})), {2, 0, 0, 0}));
  EXPECT_TRUE(near(second_derivative(f, tensor({2.0, 1.0})), {0, 0, 0, 2}));
  EXPECT_TRUE(near(second_derivative(f, tensor({2.0, 2.0})), {1, 0, 0, 1}));
  const auto larger = [](Tensor p) { return maximum(p[0] * p[0], p[1] * p[1]); };
  EXPECT_TRUE(near(second_derivative(larger, tensor({2.0, 1.0})), {2, 0, 0, 0}));
  // One program, evaluated at both.
  const Program p = program(second, f64[{2}]);
  EXPECT_TRUE(near(evaluate(p, {tensor({2.0, 1.0})})[0], {0, 0, 0, 2}));
  EXPECT_TRUE(near(evaluate(p, {tensor({1.0, 2.0})})[0], {2, 0, 0, 0}));
}

}  // namespace
}  // namespace hom::cases
