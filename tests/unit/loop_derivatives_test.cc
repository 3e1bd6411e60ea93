// tests/unit/loop_derivatives_test.cc -- derivatives of loops and of switch_, of all orders, equal
// those of the unrolled loop
#include <algorithm>
#include <cmath>

#include "loop_support.h"

namespace hom::testing {
namespace {

TEST(Derivatives, of_each_loop_equal_those_of_the_unrolled_loop_to_third_order) {
  const auto unrolled = [](Tensor x) {
    Tensor y = x;
    for (int i = 0; i < 5; ++i) y = sin(y) * x + 0.1 * i;
    return y;
  };
  const auto step = [](Tensor x) {
    return [x](Tensor i, Tensor y) { return sin(y) * x + 0.1 * i; };
  };
  for (bool checkpoint : {false, true}) {
    expect_same_derivatives(
        [&](Tensor x) { return fori_loop(0, 5, step(x), x, {.checkpoint = checkpoint}); }, unrolled,
        0.8);
  }
  expect_same_derivatives(
      [&](Tensor x) { return fori_loop(Tensor(0), Tensor(5), step(x), x, {.bound = 5}); }, unrolled,
      0.8);
  expect_same_derivatives(
      [&](Tensor x) { return fori_loop(Tensor(0), Tensor(5), step(x), x, {.bound = 9}); }, unrolled,
      0.8);
  expect_same_derivatives(
      [&](Tensor x) {
        return scan([&](Tensor y, Tensor i) { return std::pair{step(x)(i, y), y}; }, x, arange(5))
            .first;
      },
      unrolled, 0.8);
  expect_same_derivatives(
      [&](Tensor x) {
        return scan([&](Tensor y, Tensor i) { return std::pair{step(x)(i, y), y}; }, x,
                    flip(arange(5), {0}), {.reverse = true})
            .first;
      },
      unrolled, 0.8);
  expect_same_derivatives(
      [](Tensor x) {
        return sum(map([&](Tensor t) { return sin(t * x) * t; }, stack({x, x * x, 2 * x})));
      },
      [](Tensor x) { return sin(x * x) * x + sin(x * x * x) * x * x + sin(2 * x * x) * 2 * x; },
      0.8);
}

TEST(Derivatives, in_scanned_operands_initial_carries_and_closures) {
  const Tensor xs = numbers({6, 2});
  const Tensor w = numbers({2, 2}, 0.7);
  const Tensor start = numbers({2}, 0.2);
  for (const ScanOptions& options :
       {ScanOptions{}, ScanOptions{.reverse = true}, ScanOptions{.checkpoint = true},
        ScanOptions{.reverse = true, .checkpoint = true}}) {
    const auto looped = [&](Tensor c, Tensor x, Tensor m) {
      const auto [last, ys] = scan(
          [&](Tensor h, Tensor t) {
            const Tensor next = tanh(matmul(m, h) + t);
            return std::pair{next, sum(next * next)};
          },
          c, x, options);
      return sum(last) + sum(ys * arange(6));
    };
    const auto unrolled = [&](Tensor c, Tensor x, Tensor m) {
      Tensor total = Tensor(0.0);
      for (std::int64_t n = 0; n < 6; ++n) {
        const std::int64_t i = options.reverse ? 5 - n : n;
        c = tanh(matmul(m, c) + x(i));
        total = total + i * sum(c * c);
      }
      return sum(c) + total;
    };
    const auto got = grad(looped, wrt<0, 1, 2>)(start, xs, w);
    const auto want = grad(unrolled, wrt<0, 1, 2>)(start, xs, w);
    expect_near(std::get<0>(got), std::get<0>(want));
    expect_near(std::get<1>(got), std::get<1>(want));
    expect_near(std::get<2>(got), std::get<2>(want));
    expect_near(hessian(looped)(start, xs, w), hessian(unrolled)(start, xs, w));
    expect_near(jacobian(grad(looped, wrt<2>), wrt<1>)(start, xs, w),
                jacobian(grad(unrolled, wrt<2>), wrt<1>)(start, xs, w));
    EXPECT_TRUE(check_derivatives(looped, start, xs, w).ok());
  }
}

TEST(Derivatives, of_loops_of_no_and_of_one_iteration) {
  const auto f = [](std::int64_t n) {
    return [n](Tensor x) { return fori_loop(0, n, [&](Tensor, Tensor y) { return y * x; }, x); };
  };
  EXPECT_EQ(grad(f(0))(3.0).item(), 1);
  EXPECT_EQ(grad(f(1))(3.0).item(), 6);
  EXPECT_EQ(grad(grad(f(0)))(3.0).item(), 0);
  EXPECT_EQ(grad(grad(f(1)))(3.0).item(), 2);
  EXPECT_EQ(jvp(f(0))(3.0, 2.0).second.item(), 2);
  EXPECT_EQ(jvp(f(1))(3.0, 2.0).second.item(), 12);
  const auto sums = [](Tensor x) { return sum(sums_by_scan(x)); };
  EXPECT_EQ(grad(sums)(zeros({0})).type(), f64[{0}]);
  EXPECT_EQ(values(grad(sums)(zeros({1}))), (Values{1}));
  EXPECT_EQ(values(grad(sums)(zeros({3}))), (Values{3, 2, 1}));
}

TEST(Derivatives, of_a_carry_that_starts_as_a_literal_or_is_only_read) {
  const auto power = [](Tensor x) {
    return fori_loop(0, 4, [&](Tensor, Tensor y) { return y * x; }, 1.0);
  };
  expect_same_derivatives(power, [](Tensor x) { return x * x * x * x; }, 1.5);
  const auto from_zero = [](Tensor x) {
    return fori_loop(0, 4, [&](Tensor, Tensor y) { return y + x * x; }, 0.0);
  };
  expect_same_derivatives(from_zero, [](Tensor x) { return 4 * x * x; }, 1.5);
  // One carry that never varies, one that comes to vary late, one that is not used.
  const auto late = [](Tensor x) {
    const auto [a, b, c, unused] = fori_loop(
        0, 4,
        [&](Tensor, Tensor constant, Tensor first, Tensor second, Tensor lost) {
          return std::tuple{constant * 2, first * x, second + first * constant, lost + x};
        },
        std::tuple{Tensor(1.0), Tensor(1.0), Tensor(0.0), Tensor(0.0)});
    static_cast<void>(a);
    static_cast<void>(b);
    static_cast<void>(unused);
    return c;
  };
  expect_same_derivatives(
      late, [](Tensor x) { return 1 + 2 * x + 4 * x * x + 8 * x * x * x; }, 0.5);
  // Carries that change places every iteration.
  const auto rotating = [](Tensor x) {
    const auto [a, b, c] = fori_loop(
        0, 4, [](Tensor, Tensor p, Tensor q, Tensor r) { return std::tuple{q, r * p, p}; },
        std::tuple{Tensor(2.0), x, Tensor(3.0)});
    return a + b * c;
  };
  const auto rotated = [](Tensor x) {
    Tensor p = Tensor(2.0);
    Tensor q = x;
    Tensor r = Tensor(3.0);
    for (int i = 0; i < 4; ++i) {
      const Tensor old = p;
      p = q;
      q = r * old;
      r = old;
    }
    return p + q * r;
  };
  expect_same_derivatives(rotating, rotated, 0.9, 1e-6);
}

TEST(Derivatives, a_linear_loop_with_a_carry_of_its_own_is_transposed_either_way) {
  // y = Σ cᵢ xᵢ, with cᵢ a carry that grows from one iteration to the next.
  for (bool reverse : {false, true}) {
    const auto weighted = [&](Tensor x) {
      using Carry = std::pair<Tensor, Tensor>;
      const auto step = [](Carry c, Tensor e) {
        return std::pair{Carry{2 * c.first + 1, c.second + c.first * e}, std::tuple<>()};
      };
      return scan(step, Carry{1.0, 0 * sum(x)}, x, {.reverse = reverse}).first.second;
    };
    const Tensor weights = reverse ? tensor({7.0, 3.0, 1.0}) : tensor({1.0, 3.0, 7.0});
    expect_equal(transpose(weighted, f64[{3}])(1.0), weights);
  }
}

// The comparison makes the carry look as if it varied with x; its tangent is zero throughout, and
// the function that it goes through has a name, so that this is seen inside a call only.
TEST(Derivatives, of_a_carry_that_varies_in_appearance_only) {
  const auto f = [](Tensor x) {
    const auto second = named("second", [](Tensor, Tensor q) { return sin(q); });
    return scan([&](Tensor c, Tensor e) { return std::pair{second(e == c, c), c * e}; },
                tensor({0.5, 1.0}), x);
  };
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  const auto [y, pullback] = vjp(f)(x);
  const Tensor dx = pullback(std::pair{ones({2}), ones({3, 2})});
  // The carries: c, sin c, sin sin c.
  for (int i = 0; i < 2; ++i) {
    double c = i == 0 ? 0.5 : 1.0;
    for (int n = 0; n < 3; ++n, c = std::sin(c)) EXPECT_DOUBLE_EQ(dx(n, i).item<double>(), c);
  }
}

TEST(Derivatives, forward_mode_of_a_while_loop_needs_no_bound) {
  const auto halvings = [](Tensor x) {
    return while_loop([](Tensor y) { return y > 1; }, [](Tensor y) { return sin(y) * y / 2; }, x);
  };
  const auto unrolled = [](Tensor x) {
    Tensor y = x;
    for (int i = 0; i < 1; ++i) y = sin(y) * y / 2;
    return y;
  };
  const auto forward = [](auto h) { return [h](Tensor t) { return jvp(h)(t, 1.0).second; }; };
  EXPECT_NEAR(forward(halvings)(Tensor(2.5)).item(), grad(unrolled)(2.5).item(), 1e-12);
  EXPECT_NEAR(forward(forward(halvings))(Tensor(2.5)).item(), grad(grad(unrolled))(2.5).item(),
              1e-12);
  EXPECT_NEAR(forward(forward(forward(halvings)))(Tensor(2.5)).item(),
              grad(grad(grad(unrolled)))(2.5).item(), 1e-12);
  EXPECT_NEAR(jacobian(halvings, Mode::forward)(Tensor(2.5)).item(), grad(unrolled)(2.5).item(),
              1e-12);
  const std::string message = message_of([&] { grad(halvings)(2.5); });
  EXPECT_NE(message.find("{.bound = n}"), std::string::npos) << message;
  EXPECT_NE(message.find("loop_derivatives_test.cc"), std::string::npos) << message;
  // Where the loop does not depend on the argument there is nothing to turn round.
  const auto beside = [&](Tensor x) { return x * x * stop_gradient(halvings(x)); };
  EXPECT_NEAR(grad(beside)(2.5).item(), 5 * halvings(Tensor(2.5)).item(), 1e-12);
}

TEST(Derivatives, ask_the_condition_as_often_as_the_loop_does) {
  // Beyond its bound, and once it has failed, the condition would raise: there is no such element.
  const Tensor table = tensor({1.0, 2.0, 3.0});
  for (std::int64_t bound : {0, 1, 3}) {
    const auto power = [&](Tensor start, Tensor x) {
      const auto goes_on = [&](Tensor i, Tensor) { return table(i) > 0; };
      const auto step = [&](Tensor i, Tensor y) { return std::pair{i + 1, y * x}; };
      return while_loop(goes_on, step, std::pair{start, x}, {.bound = bound}).second;
    };
    const auto of = [&](Tensor x) { return power(Tensor(0), x); };
    const double slope = static_cast<double>(bound + 1) * std::pow(2.0, bound);
    expect_equal(grad(of)(2.0), slope);
    expect_equal(jvp(of)(2.0, 1.0).second, slope);
    const Tensor starts = tensor({0, 0});
    const Tensor xs = tensor({2.0, 3.0});
    expect_equal(vmap(power)(starts, xs), pow(xs, static_cast<double>(bound + 1)));
    expect_near(vmap(grad(power, wrt<1>))(starts, xs)(0), slope);
    const auto total = [&](Tensor x) { return sum(vmap(power)(starts, x)); };
    expect_near(grad(total)(xs)(0), slope);
    if (bound == 0) expect_equal(vmap(power)(tensor({3, 4}), xs), xs);
  }
}

TEST(Derivatives, switch_runs_one_branch_and_clamps) {
  const auto f = [](Tensor i) {
    return [i](Tensor x) {
      return switch_(i,
                     std::tuple{[](Tensor t) { return t * t; }, [](Tensor t) { return sin(t); },
                                [&](Tensor t) { return t * x * 3; }},
                     x);
    };
  };
  const Values by_index{4, std::sin(2.0), 12};
  const Values slopes{4, std::cos(2.0), 12};
  for (int i = -2; i < 6; ++i) {
    const auto branch = static_cast<std::size_t>(std::clamp(i, 0, 2));
    EXPECT_NEAR(f(Tensor(i))(Tensor(2.0)).item(), by_index[branch], 1e-15);
    EXPECT_NEAR(evaluate(program(f(Tensor(i)), f64[{}]), {Tensor(2.0)})[0].item(), by_index[branch],
                1e-15);
    EXPECT_NEAR(grad(f(Tensor(i)))(2.0).item(), slopes[branch], 1e-15);
    EXPECT_NEAR(jvp(f(Tensor(i)))(2.0, 1.0).second.item(), slopes[branch], 1e-15);
  }
  const auto traced = [&](Tensor i, Tensor x) { return f(i)(x); };
  const Tensor indices = tensor({-1, 0, 1, 2, 3});
  const Tensor got = vmap(traced, {0, unmapped})(indices, Tensor(2.0));
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(got(i).item(), f(indices(i))(Tensor(2.0)).item());
  // Unsigned and narrow indices, and one branch.
  EXPECT_EQ(f(tensor(255, u8))(Tensor(2.0)).item(), 12);
  EXPECT_EQ(f(tensor(-100, i8))(Tensor(2.0)).item(), 4);
  EXPECT_EQ(switch_(7, std::tuple{[](Tensor t) { return t; }}, 5.0).item(), 5);
  // A branch that does not run does not raise.
  const auto guarded =
      switch_(0, std::tuple{[](Tensor t) { return t; }, [](Tensor t) { return take(t, 9) * t; }},
              ones({2}));
  EXPECT_EQ(values(guarded), (Values{1, 1}));
}

}  // namespace
}  // namespace hom::testing
