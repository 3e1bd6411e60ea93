// tests/unit/custom_jvp_test.cc -- custom_jvp: values, structures, both modes, closures
#include <cmath>

#include "custom_rule_support.h"

namespace hom::testing {
namespace {

TEST(CustomJvp, log1pexp_is_stable_where_its_plain_derivative_is_not) {
  EXPECT_EQ(grad(log1pexp)(1000.0).item(), 1);
  EXPECT_EQ(jvp(log1pexp)(1000.0, 2.0).second.item(), 2);
  EXPECT_EQ(grad(log1pexp)(0.0).item(), 0.5);
  EXPECT_EQ(grad(grad(log1pexp))(0.0).item(), 0.25);
  expect_same(log1pexp, [](Tensor x) { return log1p(exp(x)); }, numbers({3}));
}

TEST(CustomJvp, the_rule_is_used_and_no_other) {
  const auto f = custom_jvp([](Tensor x) { return x * x; },
                            [](Tensor, Tensor y, Tensor dx) { return 10 * y * dx; });
  EXPECT_EQ(grad(f)(3.0).item(), 90);
  EXPECT_EQ(jvp(f)(3.0, 1.0).second.item(), 90);
  EXPECT_EQ(vmap(grad(f))(tensor({1.0, 3.0}))(1).item(), 90);
  EXPECT_EQ(fori_loop(0, 1, [&](Tensor, Tensor x) { return grad(f)(x); }, 3.0).item(), 90);
  EXPECT_EQ(grad(checkpoint(f))(3.0).item(), 90);
  EXPECT_EQ(grad(named("f", f))(3.0).item(), 90);
  // The derivative of the rule, in which y is f(x) again.
  EXPECT_EQ(grad(grad(f))(3.0).item(), 900);
}

TEST(CustomJvp, integers_have_empty_tangents) {
  const auto power = custom_jvp([](Tensor x, Tensor n) { return pow(x, n); },
                                [](Tensor x, Tensor n, Tensor, Tensor dx, Tensor dn) {
                                  EXPECT_TRUE(dn.is_empty());
                                  return n * pow(x, n - 1) * dx;
                                });
  EXPECT_EQ(grad(power)(2.0, 3).item(), 12);
  EXPECT_EQ(grad(grad(power))(2.0, 3).item(), 12);
  const auto both = grad(power, wrt<0, 1>)(2.0, 3);
  EXPECT_EQ(std::get<0>(both).item(), 12);
  EXPECT_TRUE(std::get<1>(both).is_empty());
  expect_equal(vmap(grad(power))(tensor({1.0, 2.0}), tensor({2, 3})), tensor({2.0, 12.0}));
  expect_equal(vmap(grad(power), {unmapped, 0})(2.0, tensor({1, 3})), tensor({1.0, 12.0}));
}

TEST(CustomJvp, products_of_arguments_and_of_results_keep_their_structure) {
  const auto f = custom_jvp(
      [](Pair p, std::vector<Tensor> v) {
        return std::tuple{p.a * v[0], argmax(p.b, 0), Pair{sum(p.b) * v[1], v[0]}};
      },
      [](Pair p, std::vector<Tensor> v, std::tuple<Tensor, Tensor, Pair> y, Pair dp,
         std::vector<Tensor> dv) {
        EXPECT_EQ(std::get<1>(y).dtype(), i64);
        return std::tuple{dp.a * v[0] + p.a * dv[0], Tensor(),
                          Pair{sum(dp.b) * v[1] + sum(p.b) * dv[1], dv[0]}};
      });
  const auto plain = [](Pair p, std::vector<Tensor> v) {
    return std::tuple{p.a * v[0], argmax(p.b, 0), Pair{sum(p.b) * v[1], v[0]}};
  };
  const auto scalar = [](const auto& h) {
    return [h](Pair p, std::vector<Tensor> v) {
      const auto [a, i, q] = h(p, v);
      return sin(a) * q.a + q.b * i.astype(f64);
    };
  };
  const Pair p{Tensor(0.7), tensor({0.1, 0.9, 0.3})};
  const std::vector<Tensor> v{Tensor(1.3), Tensor(-0.4)};
  const auto [dp, dv] = grad(scalar(f), wrt<0, 1>)(p, v);
  const auto [wp, wv] = grad(scalar(plain), wrt<0, 1>)(p, v);
  expect_near(dp.a, wp.a);
  expect_near(dp.b, wp.b);
  expect_near(dv[0], wv[0]);
  expect_near(dv[1], wv[1]);
  const auto value_and_tangent = jvp(f)(p, v, p);
  expect_near(std::get<0>(value_and_tangent.second), p.a * v[0]);
  EXPECT_TRUE(std::get<1>(value_and_tangent.second).is_empty());
  expect_near(grad(scalar(f), wrt<1>)(p, v)[0], wv[0]);
}

TEST(CustomJvp, closures_hold_what_does_not_vary) {
  const Tensor w = numbers({3});
  expect_same(
      custom_jvp([&](Tensor x) { return x * w; },
                 [&](Tensor, Tensor, Tensor dx) { return dx * w; }),
      [&](Tensor x) { return x * w; }, numbers({3}, 0.5));
  // Symbols of an outer capture that do not vary, in the function, in the rule, and in both.
  const auto with_outer = [](Tensor a, Tensor x) {
    const Tensor b = exp(a);
    const auto f =
        custom_jvp([&](Tensor t) { return t * t * b; },
                   [&](Tensor t, Tensor, Tensor dt) { return 2 * t * dt * b * cos(a - a); });
    return grad(f)(x);
  };
  expect_near(evaluate(program(with_outer, f64[{}], f64[{}]), {Tensor(0.0), Tensor(3.0)})[0],
              Tensor(6.0));
  expect_near(vmap(with_outer)(tensor({0.0, 1.0}), tensor({3.0, 4.0})),
              tensor({6.0, 8 * std::exp(1.0)}));
  const std::string message = message_of([&] {
    grad([](Tensor a) {
      return custom_jvp([&](Tensor x) { return x * a; },
                        [&](Tensor, Tensor, Tensor dx) { return dx * a; })(2.0);
    })(1.0);
  });
  expect_says(message, "custom_jvp: the function holds a tensor f64[] in its closure");
  expect_says(message, "pass the tensor as one of them");
  expect_says(message, "custom_jvp_test.cc");
}

}  // namespace
}  // namespace hom::testing
