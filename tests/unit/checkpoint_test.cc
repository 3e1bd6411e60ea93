// tests/unit/checkpoint_test.cc -- composite, checkpoint, barrier and stop_gradient
#include <cmath>
#include <functional>

#include "custom_rule_support.h"

#include <hom/categories/linearize.h>

namespace hom::testing {
namespace {

TEST(Composite, is_its_decomposition_under_a_name) {
  const auto plain = [](Tensor x) { return x / (1 + exp(-x)); };
  const auto swish = composite("swish", plain);
  expect_same(swish, plain, numbers({3}));
  const Program p = program(swish, f64[{3}]);
  EXPECT_EQ(p.step_count(), 1U);
  EXPECT_EQ(p.step(0).primitive.name, "composite");
  EXPECT_NE(syntax(p).find("swish"), std::string::npos) << syntax(p);
  const auto scaled = [&](Tensor a, Tensor x) {
    return composite("scaled", [&](Tensor t) { return t * a; })(x);
  };
  EXPECT_EQ(grad(scaled)(2.0, 3.0).item(), 3);
}

std::int64_t residual_bytes(const Program& p) {
  const Linearization lin = linearize(p, std::vector<bool>(p.inputs().size(), true));
  std::int64_t bytes = 0;
  for (std::size_t r = p.outputs().size(); r < lin.primal.outputs().size(); ++r) {
    const Slot slot = lin.primal.outputs()[r];
    if (lin.primal.definition(slot) != Program::is_none) bytes += 8 * lin.primal.type(slot).size();
  }
  return bytes;
}

TEST(Checkpoint, keeps_the_arguments_only) {
  const auto block = [](Tensor x) {
    for (int i = 0; i < 4; ++i) x = sin(x) * exp(-x * x) + x;
    return x;
  };
  const auto chain = [](auto f) { return [f](Tensor x) { return f(f(f(x))); }; };
  constexpr std::int64_t d = 100;
  EXPECT_GE(residual_bytes(program(chain(block), f64[{d}])), 24 * 8 * d);
  // The values between the three blocks.
  EXPECT_EQ(residual_bytes(program(chain(checkpoint(block)), f64[{d}])), 2 * 8 * d);
  EXPECT_EQ(residual_bytes(program(checkpoint(chain(block)), f64[{d}])), 0);
  const auto loss = [&](auto f) { return [f, chain](Tensor x) { return sum(chain(f)(x)); }; };
  const Tensor x = numbers({d});
  expect_equal(grad(loss(checkpoint(block)))(x), grad(loss(block))(x));
  // Every block is run once more, and only once.
  const Program p = program(value_and_grad(loss(checkpoint(block))), f64[{d}]);
  EXPECT_EQ(cost(p).by_primitive.at("exp"), 2 * 12 * 2 * d);
  expect_same(chain(checkpoint(block)), chain(block), numbers({3}), 1e-9);
  expect_same(checkpoint(chain(checkpoint(block))), chain(block), numbers({3}), 1e-9);
}

TEST(Checkpoint, of_a_gradient_keeps_the_arguments_only) {
  const auto block = [](Tensor x) {
    for (int i = 0; i < 4; ++i) x = sin(x) * exp(-x * x) + x;
    return x;
  };
  constexpr std::int64_t d = 100;
  const auto gradient = [&](auto f) { return grad([f](Tensor x) { return sum(f(x)); }); };
  EXPECT_GE(residual_bytes(program(gradient(block), f64[{d}])), 8 * 8 * d);
  EXPECT_LE(residual_bytes(program(gradient(checkpoint(block)), f64[{d}])), 8 * d);
}

TEST(Checkpoint, random_numbers_are_drawn_again_alike) {
  const auto dropout = [](Key key, Tensor x) {
    return where(uniform(key, {5}) < 0.5, 0.0, 2 * x) * x;
  };
  const Tensor x = numbers({5});
  const auto loss = [](auto f) { return [f](Tensor t, Key k) { return sum(sin(f(k, t))); }; };
  expect_equal(grad(loss(checkpoint(dropout)))(x, key(7)), grad(loss(dropout))(x, key(7)));
}

TEST(Checkpoint, of_closures_and_of_unused_results) {
  const auto f = [](Tensor a, Tensor x) {
    return checkpoint([&](Tensor t) { return std::pair{sin(t * a), cos(t)}; })(x).first;
  };
  EXPECT_NEAR(grad(f)(2.0, 0.3).item(), 0.3 * std::cos(0.6), 1e-15);
  EXPECT_NEAR(grad(f, wrt<1>)(2.0, 0.3).item(), 2 * std::cos(0.6), 1e-15);
  EXPECT_NEAR(grad(grad(f))(2.0, 0.3).item(), -0.09 * std::sin(0.6), 1e-15);
}

TEST(Barrier, is_the_identity_with_its_derivative) {
  const auto f = [](Tensor x) {
    const auto [a, n] = barrier(std::pair{x * x, Tensor(3)});
    return a * n;
  };
  expect_same(f, [](Tensor x) { return 3 * x * x; }, numbers({3}));
  EXPECT_EQ(count(program(f, f64[{}]), "barrier"), 1U);
  EXPECT_TRUE(barrier(std::vector<Tensor>()).empty());
  // Nothing is shared across it.
  const auto twice = [](Tensor x) { return sin(x) + sin(barrier(x)); };
  EXPECT_EQ(count(program(twice, f64[{}]), "sin"), 2U);
}

TEST(StopGradient, stops_it_inside_everything) {
  const auto stopped = [](Tensor x) { return x * stop_gradient(x * x); };
  const Tensor x = tensor({1.0, 2.0});
  for (const std::function<Tensor(Tensor)>& f : std::vector<std::function<Tensor(Tensor)>>{
           stopped, checkpoint(stopped), composite("s", stopped), named("s", stopped),
           vmap(stopped), [&](Tensor t) { return map(stopped, t); },
           [&](Tensor t) {
             return fori_loop(0, 1, [&](Tensor, Tensor u) { return stopped(u); }, t);
           },
           [&](Tensor t) { return cond(sum(t) > 0, stopped, stopped, t); }}) {
    expect_equal(grad([&](Tensor t) { return sum(f(t)); })(x), x * x);
    expect_equal(jvp(f)(x, ones({2})).second, x * x);
  }
}

}  // namespace
}  // namespace hom::testing
