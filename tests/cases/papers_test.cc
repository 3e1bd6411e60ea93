// tests/cases/papers_test.cc -- what the papers compute by hand, and what went wrong in systems
// that came before
//
// Elliott 2017 is "Compiling to Categories", Elliott 2018 "The Simple Essence of Automatic
// Differentiation".
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "support.h"

#include <hom/categories/interval.h>

namespace hom::cases {
namespace {

using Counts = std::map<std::string, int>;

const TensorType real = f64[{}];

const auto sqr = [](Tensor x) { return x * x; };
const auto mag_sqr = [](Tensor x, Tensor y) { return x * x + y * y; };
const auto cos_sin_prod = [](Tensor x, Tensor y) { return std::tuple{cos(x * y), sin(x * y)}; };

/// Steps built may not be many times the steps that are left (the Haskell original built 5,200
/// nodes to draw 7).
void expect_built_lean(const Program& program) {
  EXPECT_LE(program.steps_built(), 10 * program.step_count()) << to_text(program);
}

// Elliott 2017, section 2: the three running examples.

TEST(Papers, sqr_is_one_multiplication) {
  const Program p = program(sqr, real);
  EXPECT_EQ(operations_of(p).count, (Counts{{"mul", 1}}));
  EXPECT_EQ(p.step(0).operands[0], p.step(0).operands[1]);
  expect_built_lean(p);
}

TEST(Papers, mag_sqr_is_two_multiplications_and_an_addition) {
  const Program p = program(mag_sqr, real, real);
  EXPECT_EQ(operations_of(p).count, (Counts{{"mul", 2}, {"add", 1}}));
  EXPECT_EQ(operations_of(p).depth, 2);
  expect_built_lean(p);
}

TEST(Papers, cos_sin_prod_multiplies_once) {
  const Program p = program(cos_sin_prod, real, real);
  EXPECT_EQ(operations_of(p).count, (Counts{{"mul", 1}, {"cos", 1}, {"sin", 1}}));
  expect_built_lean(p);
}

TEST(Papers, the_same_product_written_with_arrows_is_the_same_program) {
  namespace a = arrows;
  EXPECT_EQ(program(a::dup >> a::mul, real), program(sqr, real));
  const auto with_arrows = fork(a::exl >> a::dup >> a::mul, a::exr >> a::dup >> a::mul) >> a::add;
  // C++ may evaluate the operands of + in either order; here they have one.
  const auto in_order = [](Tensor x, Tensor y) {
    const Tensor xx = x * x;
    return xx + y * y;
  };
  EXPECT_EQ(program(with_arrows, real, real), program(in_order, real, real));
  const auto of_product = a::mul >> fork(a::cos, a::sin);
  EXPECT_EQ(program(of_product, real, real), program(cos_sin_prod, real, real));
}

TEST(Papers, gradient_of_mag_sqr_with_value_is_two_multiplications_and_three_additions) {
  const Program p = program(value_and_grad(mag_sqr, wrt<0, 1>), real, real);
  EXPECT_EQ(operations_of(p).count, (Counts{{"mul", 2}, {"add", 3}})) << to_text(p);
  EXPECT_EQ(operations_of(p).depth, 2);
  expect_built_lean(p);
}

TEST(Papers, gradient_of_mag_sqr_at_3_4) {
  EXPECT_TRUE(near(mag_sqr(3.0, 4.0), 25));
  const auto [dx, dy] = gradients(mag_sqr, Tensor(3.0), Tensor(4.0));
  EXPECT_TRUE(near(dx, 6));
  EXPECT_TRUE(near(dy, 8));
}

TEST(Papers, jacobian_of_cos_sin_prod_with_value_is_eight_operations_of_depth_four) {
  for (const Mode mode : {Mode::forward, Mode::reverse}) {
    const auto with_value = [mode](Tensor x, Tensor y) {
      return std::tuple{cos_sin_prod(x, y), jacobian(cos_sin_prod, wrt<0, 1>, mode)(x, y)};
    };
    const Program p = program(with_value, real, real);
    EXPECT_EQ(operations_of(p).total, 8) << to_text(p);
    EXPECT_EQ(operations_of(p).depth, 4) << to_text(p);
    EXPECT_EQ(operations_of(p).count["sin"], 1);
    EXPECT_EQ(operations_of(p).count["cos"], 1);
    expect_built_lean(p);
  }
}

TEST(Papers, jacobian_of_cos_sin_prod_at_2_3) {
  const auto [c, s] = cos_sin_prod(2.0, 3.0);
  EXPECT_TRUE(near(c, 0.960170286650366));
  EXPECT_TRUE(near(s, -0.27941549819892586));
  for (const Mode mode : {Mode::forward, Mode::reverse, Mode::automatic}) {
    const auto [cos_row, sin_row] = jacobian(cos_sin_prod, wrt<0, 1>, mode)(2.0, 3.0);
    EXPECT_TRUE(near(std::get<0>(cos_row), 0.8382464945967776));
    EXPECT_TRUE(near(std::get<1>(cos_row), 0.5588309963978517));
    EXPECT_TRUE(near(std::get<0>(sin_row), 2.880510859951098));
    EXPECT_TRUE(near(std::get<1>(sin_row), 1.920340573300732));
  }
}

TEST(Papers, gradient_of_cos_xpyz_shares_one_sine_and_one_cosine) {
  const auto f = [](Tensor x, Tensor y, Tensor z) { return cos(x + y * z); };
  EXPECT_TRUE(near(f(0.1, 0.2, 0.3), 0.9872272833756269));
  const auto [dx, dy, dz] = gradients(f, Tensor(0.1), Tensor(0.2), Tensor(0.3));
  EXPECT_TRUE(near(dx, -0.15931820661424598));
  EXPECT_TRUE(near(dy, -0.04779546198427379));
  EXPECT_TRUE(near(dz, -0.0318636413228492));
  Operations operations = operations_of(program(value_and_grad(f, wrt<0, 1, 2>), real, real, real));
  EXPECT_EQ(operations.count["sin"], 1);
  EXPECT_EQ(operations.count["cos"], 1);
}

TEST(Papers, cos_of_2xx) {
  const auto f = [](Tensor x) { return cos(2 * x * x); };
  EXPECT_TRUE(near(f(0.7), 0.5570225467662174));
  EXPECT_TRUE(near(gradient(f, 0.7), -2.325392637377517));
}

TEST(Papers, a_shared_subexpression_is_computed_once) {
  const auto f = [](Tensor x, Tensor y, Tensor z) {
    return atan2(z, x * sin(y)) + z * (x * sin(y));
  };
  EXPECT_TRUE(near(f(1.1, 2.2, 3.3), 4.242393641025528));
  const auto [dx, dy, dz] = gradients(f, Tensor(1.1), Tensor(2.2), Tensor(3.3));
  EXPECT_TRUE(near(dx, 2.4396285219055063));
  EXPECT_TRUE(near(dy, -1.953374825727421));
  EXPECT_TRUE(near(dz, 0.9654825811012627));
  const Program p = program(f, real, real, real);
  EXPECT_EQ(operations_of(p).count, (Counts{{"sin", 1}, {"mul", 2}, {"atan2", 1}, {"add", 1}}));
  EXPECT_EQ(operations_of(program(value_and_grad(f, wrt<0, 1, 2>), real, real, real)).count["sin"],
            1);
}

// Elliott 2018 and the functional-pearl tradition: n doublings must not cost 2ⁿ.

TEST(Papers, n_doublings_are_n_operations_in_evaluation_jvp_and_vjp) {
  for (const int n : {20, 30, 60}) {
    const auto doubled = [n](Tensor x) {
      for (int i = 0; i < n; ++i) x = x + x;
      return x;
    };
    const double power = std::ldexp(1.0, n);
    EXPECT_EQ(operations_of(program(doubled, real)).total, n);
    EXPECT_EQ(operations_of(linearize(doubled)(1.0).second.program()).total, n);
    EXPECT_EQ(operations_of(program(jvp(doubled), real, real)).total, 2 * n);
    EXPECT_LE(operations_of(program(value_and_grad(doubled), real)).total, 2 * n);
    expect_built_lean(program(value_and_grad(doubled), real));

    WatchingExecutor executor;
    const ExecutorScope scope(executor);
    const auto steps = [&] { return std::exchange(executor.steps, 0); };
    EXPECT_EQ(doubled(1.0).item(), power);
    EXPECT_EQ(steps(), n);
    const auto [value, tangent] = jvp(doubled)(3.0, 0.5);
    EXPECT_EQ(value.item(), 3 * power);
    EXPECT_EQ(tangent.item(), 0.5 * power);
    EXPECT_EQ(steps(), 2 * n);
    const auto pullback = vjp(doubled)(3.0).second;
    EXPECT_EQ(steps(), n);
    EXPECT_EQ(pullback(0.25).item(), 0.25 * power);
    EXPECT_EQ(steps(), n);
    EXPECT_EQ(grad(doubled)(3.0).item(), power);
  }
}

// Ten levels of eight nodes; each node is a product of a coefficient and the sum of the eight
// before, so there are 8¹⁰ paths. The coefficients of a level add up to 2, which makes the last sum
// 2¹⁰·x.

TEST(Papers, ten_levels_of_sums_of_eight_products_are_linear_work) {
  const std::vector<double> coefficients{1. / 8,  1. / 4,  3. / 8,  1. / 2,
                                         1. / 16, 3. / 16, 5. / 32, 11. / 32};
  const auto f = [&](Tensor x) {
    for (int level = 0; level < 10; ++level) {
      std::vector<Tensor> nodes;
      for (double c : coefficients) nodes.push_back(c * x);
      x = nodes[0];
      for (std::size_t i = 1; i < nodes.size(); ++i) x = x + nodes[i];
    }
    return 1e-6 * x * x;
  };
  EXPECT_TRUE(near(f(1.5), 1e-6 * 1536 * 1536));
  EXPECT_TRUE(near(gradient(f, 1.5), 3.145728));
  EXPECT_TRUE(near(gradient(f, -0.25), 1e-6 * std::ldexp(1.0, 21) * -0.25));
  const int levels = 10 * (8 + 7);
  EXPECT_LE(operations_of(program(f, real)).total, levels + 2);
  EXPECT_LE(operations_of(program(value_and_grad(f), real)).total, 2 * levels + 8);
}

TEST(Papers, let_bound_intermediate_values_of_a_cubic) {
  const auto f = [](Tensor x) {
    const Tensor x1 = 2 * x;
    const Tensor x2 = x1 * (x + x1);
    return x * (x1 + x2 - 1) - x2;
  };
  EXPECT_TRUE(near(f(2.0), 30));
  EXPECT_TRUE(near(gradient(f, 2.0), 55));
  EXPECT_TRUE(near(second_derivative(f, 2.0), 36 * 2.0 - 8));
  // The closed form 6x³ − 4x² − x, elsewhere.
  for (const double x : {-1.5, 0.0, 0.3}) {
    EXPECT_TRUE(near(f(x), 6 * x * x * x - 4 * x * x - x));
    EXPECT_TRUE(near(gradient(f, x), 18 * x * x - 8 * x - 1));
  }
}

TEST(Papers, a_local_function_is_differentiated_through_its_closure) {
  const auto g = [](Tensor x, Tensor y) {
    const auto f = [&](Tensor z) { return x * z + y; };
    return f(y) * f(x);
  };
  EXPECT_TRUE(near(g(2.0, 3.0), 63));
  const auto [dx, dy] = gradients(g, Tensor(2.0), Tensor(3.0));
  EXPECT_TRUE(near(dx, 57));
  EXPECT_TRUE(near(dy, 30));
  const auto curried = curry(g);
  EXPECT_TRUE(near(grad([&](Tensor x) { return curried(x)(Tensor(3.0)); })(2.0), 57));
}

// Siskind and Pearlmutter, "Perturbation confusion and referential transparency", 2005.

TEST(Papers, nested_derivatives_are_not_confused) {
  const auto derivative = [](auto f) { return [f](Tensor x) { return jvp(f)(x, 1.0).second; }; };
  const auto reverse = [](auto f) { return grad(f); };
  const auto confused_by = [](auto outer, auto inner) {
    return outer([inner](Tensor x) {
      return x * inner([x](Tensor y) { return x * y; })(Tensor(2.0));
    })(Tensor(1.0));
  };
  EXPECT_TRUE(near(confused_by(derivative, derivative), 2));
  EXPECT_TRUE(near(confused_by(derivative, reverse), 2));
  EXPECT_TRUE(near(confused_by(reverse, derivative), 2));
  EXPECT_TRUE(near(confused_by(reverse, reverse), 2));
  // The paper's own: d/dx (x · d/dy (x + y)) is 1; confused, it would be 2.
  const auto sum_inside = [&](auto outer, auto inner) {
    return outer([inner](Tensor x) {
      return x * inner([x](Tensor y) { return x + y; })(Tensor(1.0));
    })(Tensor(1.0));
  };
  EXPECT_TRUE(near(sum_inside(derivative, derivative), 1));
  EXPECT_TRUE(near(sum_inside(derivative, reverse), 1));
  EXPECT_TRUE(near(sum_inside(reverse, derivative), 1));
  EXPECT_TRUE(near(sum_inside(reverse, reverse), 1));
}

TEST(Papers, higher_derivatives_of_polynomials) {
  const auto cubic = [](Tensor x) { return 4 * x * x * x; };
  EXPECT_TRUE(near(grad(grad(grad(cubic)))(0.7), 24));
  const auto forward = [](auto f) { return [f](Tensor x) { return jvp(f)(x, 1.0).second; }; };
  EXPECT_TRUE(near(forward(forward(forward(cubic)))(0.7), 24));
  EXPECT_TRUE(near(forward(grad(forward(cubic)))(-3.0), 24));
  EXPECT_TRUE(near(grad(grad(grad(grad(cubic))))(0.7), 0));
  EXPECT_TRUE(near(second_derivative([](Tensor x) { return x * x * x; }, 2.0), 12));
  EXPECT_TRUE(near(second_derivative([](Tensor x) { return pow(x, 3); }, 2.0), 12));
}

TEST(Papers, a_hessian_times_a_vector_in_four_ways) {
  const auto f = [](Tensor x) { return exp(0.5 * sum(x * x)); };
  const Tensor x = tensor({0.1, 0.2, 0.3});
  const Tensor v = tensor({0.2, 0.3, 0.4});
  const std::vector<double> expected{0.235952, 0.364653, 0.493354};
  // (I + xxᵀ)·v·f by NumPy: oracle.py, "row 11".
  const std::vector<double> exact{0.23595179987592768, 0.3646527816264336, 0.49335376337693965};
  EXPECT_TRUE(near(f(x), 1.0725081812542165));
  const auto along_v = [&](Tensor p) { return jvp(f)(p, v).second; };
  const auto dot_v = [&](Tensor p) { return sum(grad(f)(p) * v); };
  const Tensor forward_over_reverse = jvp(grad(f))(x, v).second;
  const Tensor reverse_over_forward = grad(along_v)(x);
  const Tensor reverse_over_reverse = grad(dot_v)(x);
  for (const Tensor& product :
       {forward_over_reverse, reverse_over_forward, reverse_over_reverse, hvp(f)(x, v)}) {
    EXPECT_TRUE(near(product, expected, 1e-6));
    EXPECT_TRUE(near(product, exact));
  }
  EXPECT_TRUE(near(forward_over_reverse, finite_difference(grad(f), x, v), 1e-9));
  EXPECT_TRUE(near(matmul(second_derivative(f, x), v), exact));
}

TEST(Papers, hessian_of_exp_xy) {
  const auto f = [](Tensor x, Tensor y) { return exp(x * y); };
  const auto [dx, dy] = gradients(f, Tensor(1.0), Tensor(2.0));
  EXPECT_TRUE(near(dx, 14.7781121978613));
  EXPECT_TRUE(near(dy, 7.38905609893065));
  const auto [row_x, row_y] = hessian(f, wrt<0, 1>)(1.0, 2.0);
  EXPECT_TRUE(near(std::get<0>(row_x), 29.5562243957226));
  EXPECT_TRUE(near(std::get<1>(row_x), 22.16716829679195));
  EXPECT_TRUE(near(std::get<0>(row_y), 22.16716829679195));
  EXPECT_TRUE(near(std::get<1>(row_y), 7.38905609893065));
  // The same function of one vector.
  const auto packed = [](Tensor p) { return exp(p[0] * p[1]); };
  EXPECT_TRUE(near(second_derivative(packed, tensor({1.0, 2.0})),
                   {29.5562243957226, 22.16716829679195, 22.16716829679195, 7.38905609893065}));
}

TEST(Papers, jvp_of_a_cube) {
  const auto [value, tangent] = jvp([](Tensor x) { return x * x * x; })(2.0, 1.5);
  EXPECT_TRUE(near(value, 8));
  EXPECT_TRUE(near(tangent, 18));
}

TEST(Papers, transpose_of_a_linear_function) {
  const auto linear = [](Tensor x) { return x + (x + x) * 2; };
  EXPECT_TRUE(near(transpose(linear, real)(1.0), 5));
  // Transposing twice gives the same function with as many operations (sums associate otherwise).
  const Program p = program(linear, real);
  const Program twice = transpose(transpose(p, {true}), {true});
  EXPECT_EQ(operations_of(twice).count, operations_of(p).count);
  for (const double x : {1.0, -2.5, 0.0}) EXPECT_EQ(evaluate(twice, {x})[0].item(), 5 * x);
  // Where nothing is used twice, even the program is the same.
  const Program chain = program([](Tensor y) { return -(y * 3.0); }, real);
  EXPECT_EQ(transpose(transpose(chain, {true}), {true}), chain);
}

TEST(Papers, transpose_of_transpose_is_the_same_linear_function) {
  const Tensor weights = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  const auto linear = [&](Tensor x) { return matmul(weights, x)(newaxis, all) * 2 - sum(x); };
  const Tensor x = tensor({0.5, -1.0, 2.0});
  const auto back = transpose(linear, f64[{3}]);
  EXPECT_TRUE(near(linear(x), {7.5, 16.5}));
  // Columns of 2W − 1.
  EXPECT_TRUE(near(back(tensor({{1.0, 0.0}})), {1, 3, 5}));
  EXPECT_TRUE(near(back(tensor({{0.0, 1.0}})), {7, 9, 11}));
  EXPECT_TRUE(near(transpose(back, f64[{1, 2}])(x), {7.5, 16.5}));
}

TEST(Papers, jvp_of_a_transpose_is_the_transpose_of_the_jvp) {
  const auto linear = [](Tensor x) { return x + (x + x) * 2; };
  const auto transposed = transpose(linear, real);
  const auto [value, tangent] = jvp(transposed)(1.0, 0.25);
  EXPECT_TRUE(near(value, 5));
  EXPECT_TRUE(near(tangent, 1.25));
  const auto tangent_map = [&](Tensor dx) { return jvp(linear)(Tensor(1.0), dx).second; };
  EXPECT_TRUE(near(transpose(tangent_map, real)(0.25), 1.25));
  EXPECT_EQ(program(transpose(tangent_map, real), real), program(transposed, real));
}

// Elliott, "Generic functional parallel algorithms: scan and FFT" (2017).

TEST(Papers, fft_of_1_2_3_4) {
  for (const Dtype dtype : {f64, f32}) {
    const Tensor x = vector_of({1, 2, 3, 4}, dtype);
    const Complex y = fft(x);
    EXPECT_TRUE(near(y.re, {10, -2, -2, -2}));
    EXPECT_TRUE(near(y.im, {0, 2, 0, -2}));
    const Complex back = ifft(y);
    EXPECT_TRUE(agree(back.re, x));
    EXPECT_TRUE(near(back.im, {0, 0, 0, 0}));
    const Complex half = rfft(x);
    EXPECT_TRUE(near(half.re, {10, -2, -2}));
    EXPECT_TRUE(near(half.im, {0, 2, 0}));
  }
  // As a program it is one transform, and its transpose is that of the other direction.
  const Program p = program([](Complex c) { return fft(c); }, Complex{zeros({4}), zeros({4})});
  EXPECT_EQ(operations_of(p).total, 1);
  const auto of_real = [](Tensor x) { return fft(x).im; };
  EXPECT_TRUE(near(jacobian_in_both_modes(of_real, tensor({1.0, 2.0, 3.0, 4.0})),
                   {0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, 1, 0, -1}));
}

TEST(Papers, ascent_along_a_cosine_converges_to_half_pi) {
  // sin a has slope cos a, so a + cos a climbs it.
  const auto slope = grad([](Tensor a) { return sin(a); });
  Tensor a = 1.0;
  for (int i = 0; i < 60; ++i) a = a + slope(a);
  EXPECT_TRUE(near(a, std::numbers::pi / 2));
}

TEST(Papers, descent_on_the_cosine_reaches_pi_in_six_iterations) {
  const auto slope = grad([](Tensor a) { return cos(a); });
  Tensor a = 5.0;
  for (int i = 0; i < 6; ++i) a = a - 1.0 * slope(a);
  EXPECT_EQ(a.item(), 3.141592653589793);
}

TEST(Papers, the_jacobian_of_a_scan_is_lower_triangular) {
  const auto xs = [](Tensor n, Tensor a) {
    return scan([&](Tensor x, Tensor each) { return std::pair{x + a * each, x + a * each}; }, 0.0,
                n)
        .second;
  };
  const Tensor n = tensor({1.0, 2.0, 3.0, 4.0});
  const std::vector<double> ones_below{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1};
  EXPECT_TRUE(near(xs(n, 1.0), {1, 3, 6, 10}));
  for (Mode mode : {Mode::forward, Mode::reverse})
    EXPECT_TRUE(near(jacobian(xs, mode)(n, 1.0), ones_below));
  EXPECT_TRUE(near(jacobian(xs, wrt<1>)(n, 1.0), {1, 3, 6, 10}));
}

TEST(Papers, squaring_twice_in_a_loop_is_the_fourth_power) {
  const auto square = [](Tensor, Tensor x) { return x * x; };
  const auto fourth = [&](Tensor x) { return fori_loop(0, 2, square, x); };
  const auto bounded = [&](Tensor x) {
    return fori_loop(Tensor(0), Tensor(2), square, x, {.bound = 2});
  };
  EXPECT_TRUE(near(fourth(Tensor(3.0)), 81));
  EXPECT_TRUE(near(gradient(fourth, 3.0), 108));
  EXPECT_TRUE(near(gradient(bounded, 3.0), 108));
  EXPECT_TRUE(near(second_derivative(fourth, 3.0), 108));
  EXPECT_TRUE(near(second_derivative(bounded, 3.0), 108));
}

TEST(Papers, intervals_of_a_sum_and_of_a_polynomial_by_horner) {
  const Interval sum_range = interval([](Tensor x, Tensor y) { return x + 3 * y; })(
      Interval{0.0, 1.0}, Interval{-1.0, 2.0});
  EXPECT_NEAR(sum_range.lo, -3, 1e-14);
  EXPECT_NEAR(sum_range.hi, 7, 1e-14);
  const auto horner = [](Tensor x) { return (5 * x + 3) * x + 1; };
  const auto unrolled = [](Tensor x) {
    Tensor y = 0.0;
    for (double coefficient : {5.0, 3.0, 1.0}) y = y * x + coefficient;
    return y;
  };
  for (const Interval& range : {Interval(interval(horner)(Interval{-1.0, 1.0})),
                                Interval(interval(unrolled)(Interval{-1.0, 1.0}))}) {
    EXPECT_NEAR(range.lo, -7, 1e-14);
    EXPECT_NEAR(range.hi, 9, 1e-14);
    EXPECT_LE(range.lo, 0.55);
    for (double x = -1; x <= 1; x += 0.125) {
      const double y = horner(Tensor(x)).item();
      EXPECT_LE(range.lo, y);
      EXPECT_LE(y, range.hi);
    }
  }
}

}  // namespace
}  // namespace hom::cases
