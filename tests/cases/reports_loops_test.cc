// tests/cases/reports_loops_test.cc -- loops, branches in batches, rules of one's own, checkpoint
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <cmath>

#include "support.h"

namespace hom::cases {
namespace {

// Row 15. A batched branch runs for all lanes; those that do not take it must not make NaN.

TEST(Reports, the_gradient_of_cond_computes_no_nan_in_batches_either) {
  const auto naive_norm = [](Tensor x) { return sqrt(sum(x * x)); };
  const auto f = [&](Tensor x) {
    return cond(all_of(x == 0), [](Tensor) { return Tensor(0.0); }, naive_norm, x);
  };
  WatchingExecutor executor;
  const ExecutorScope scope(executor);
  EXPECT_TRUE(near(vmap(grad(f))(zeros({4, 3})), std::vector<double>(12, 0)));
  const Tensor some = tensor({{0.0, 0.0, 0.0}, {3.0, 0.0, 4.0}});
  const std::vector<double> slopes{0, 0, 0, 0.6, 0, 0.8};
  EXPECT_TRUE(near(vmap(grad(f))(some), slopes));
  EXPECT_TRUE(near(grad([&](Tensor x) { return sum(vmap(f)(x)); })(some), slopes));
  EXPECT_TRUE(near(map(grad(f), some), slopes));
  EXPECT_TRUE(near(vmap(jacobian(f, Mode::forward))(some), slopes));
  EXPECT_FALSE(executor.saw_nan);
}

// Row 96.

TEST(Reports, the_hessian_of_a_custom_rule_differentiates_the_rule) {
  const auto f = custom_jvp([](Tensor x, Tensor y) { return sin(x) * y; },
                            [](Tensor x, Tensor y, Tensor, Tensor dx, Tensor dy) {
                              return cos(x) * dx * y + sin(x) * dy;
                            });
  const auto h = hessian(f, wrt<0, 1>)(1.0, 2.0);
  EXPECT_TRUE(near(std::get<0>(std::get<0>(h)), -2 * std::sin(1.0)));
  EXPECT_TRUE(near(std::get<1>(std::get<0>(h)), std::cos(1.0)));
  EXPECT_TRUE(near(std::get<0>(std::get<1>(h)), std::cos(1.0)));
  EXPECT_TRUE(near(std::get<1>(std::get<1>(h)), 0.0));
  EXPECT_TRUE(
      near(second_derivative([&](Tensor x) { return f(x, 2.0); }, 1.0), -2 * std::sin(1.0)));
  const auto g =
      custom_vjp([](Tensor x, Tensor y) { return sin(x) * y; },
                 [](Tensor x, Tensor y) { return std::pair{sin(x) * y, std::pair{x, y}}; },
                 [](std::pair<Tensor, Tensor> r, Tensor ct) {
                   return std::tuple{cos(r.first) * r.second * ct, sin(r.first) * ct};
                 });
  EXPECT_TRUE(
      near(second_derivative([&](Tensor x) { return g(x, 2.0); }, 1.0), -2 * std::sin(1.0)));
}

TEST(Reports, nested_rules_of_reverse_mode_for_a_cube) {
  const auto square =
      custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair{x * x, x}; },
                 [](Tensor x, Tensor ct) { return 2 * x * ct; });
  const auto cube = custom_vjp([&](Tensor x) { return x * square(x); },
                               [&](Tensor x) { return std::pair{x * square(x), x}; },
                               [&](Tensor x, Tensor ct) { return 3 * square(x) * ct; });
  EXPECT_TRUE(near(grad(cube)(2.0), 12));
  EXPECT_TRUE(near(second_derivative(cube, 2.0), 12));
  EXPECT_TRUE(near(grad(grad(grad(cube)))(2.0), 6));
}

// Row 98.

TEST(Reports, a_loop_of_130_branches_has_the_gradient_of_the_branches_taken) {
  const auto step = [](Tensor i, Tensor v) {
    return cond(
        i % 2 == 0, [](Tensor t) { return t + 0.01; }, [](Tensor t) { return t * 1.001; }, v);
  };
  const auto counted = [&](Tensor v) { return fori_loop(0, 130, step, v); };
  const auto tested = [&](Tensor v) {
    return fori_loop(Tensor(0), Tensor(130), step, v, {.bound = 200});
  };
  const auto kept = [&](Tensor v) { return fori_loop(0, 130, step, v, {.checkpoint = true}); };
  const double want = std::pow(1.001, 65);
  EXPECT_NEAR(want, 1.067124, 1e-6);
  EXPECT_TRUE(near(gradient(counted, 1.0), want));
  EXPECT_TRUE(near(gradient(tested, 1.0), want));
  EXPECT_TRUE(near(gradient(kept, 1.0), want));
  EXPECT_TRUE(near(vmap(grad(counted))(tensor({1.0, 2.0})), {want, want}));
}

TEST(Reports, a_branch_that_would_loop_for_ever_in_dead_lanes_ends) {
  const auto to_one = [](Tensor x) {
    return while_loop([](Tensor t) { return t != 1; }, [](Tensor t) { return t / 2; }, x);
  };
  const auto f = [&](Tensor x) { return cond(x > 0, to_one, [](Tensor t) { return 3 * t; }, x); };
  // 0 / 2 is 0 for ever, −2 comes to 0.
  EXPECT_TRUE(near(vmap(f)(tensor({4.0, 0.0, -2.0, 1.0})), {1, 0, -6, 1}));
  const auto slope = [&](Tensor x) { return jvp(f)(x, 1.0).second; };
  EXPECT_TRUE(near(vmap(slope)(tensor({4.0, 0.0, -2.0, 1.0})), {0.25, 3, 3, 1}));
  EXPECT_TRUE(near(vmap(vmap(f))(tensor({{4.0, 0.0}, {-2.0, 1.0}})), {1, 0, -6, 1}));
  EXPECT_TRUE(near(map(vmap(f), tensor({{4.0, 0.0}, {-2.0, 1.0}})), {1, 0, -6, 1}));
}

TEST(Reports, checkpoint_and_dropout_have_the_same_gradient_bit_for_bit) {
  const auto layer = [](Key k, Tensor w, Tensor x) {
    return where(uniform(k, {8}) < 0.5, 0.0, 2 * tanh(matmul(w, x)));
  };
  const auto loss = [](const auto& f) {
    return [f](Tensor w, Tensor x, Key k) {
      for (const Key& each : split(k, 3)) x = f(each, w, x);
      return sum(x * x);
    };
  };
  const Tensor w = reshape(sin(arange(64, f64)), {8, 8});
  const Tensor x = cos(arange(8, f64));
  const auto plain = value_and_grad(loss(layer), wrt<0, 1>)(w, x, key(3));
  const auto again = value_and_grad(loss(checkpoint(layer)), wrt<0, 1>)(w, x, key(3));
  EXPECT_TRUE(array_equal(again.first, plain.first));
  EXPECT_TRUE(array_equal(std::get<0>(again.second), std::get<0>(plain.second)));
  EXPECT_TRUE(array_equal(std::get<1>(again.second), std::get<1>(plain.second)));
}

}  // namespace
}  // namespace hom::cases
