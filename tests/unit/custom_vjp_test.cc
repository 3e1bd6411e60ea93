// tests/unit/custom_vjp_test.cc -- custom_vjp: values, structures, both modes, closures
#include "custom_rule_support.h"

namespace hom::testing {
namespace {

/// The identity, whose gradient is cut to [−1, 1].
const auto clipped =
    custom_vjp([](Tensor x) { return x; }, [](Tensor x) { return std::pair{x, std::tuple<>()}; },
               [](std::tuple<>, Tensor ct) { return clamp(ct, -1, 1); });

TEST(CustomVjp, a_gradient_is_clipped_and_forward_mode_says_why_not) {
  const auto f = [](Tensor x) { return sum(clipped(x) * tensor({0.5, 10.0, -10.0})); };
  EXPECT_EQ(values(grad(f)(ones({3}))), (Values{0.5, 1, -1}));
  EXPECT_EQ(f(ones({3})).item(), 0.5);
  EXPECT_EQ(values(vmap(grad(f))(ones({2, 3}))(1)), (Values{0.5, 1, -1}));
  EXPECT_EQ(values(grad([&](Tensor x) { return sum(vmap(f)(x)); })(ones({2, 3}))(0)),
            (Values{0.5, 1, -1}));
  for (const std::string& message :
       {message_of([&] { jvp(f)(ones({3}), ones({3})); }),
        message_of([&] { jacobian(clipped, Mode::forward)(ones({3})); }),
        message_of([&] { vmap([&](Tensor x) { return jvp(f)(x, x).second; })(ones({2, 3})); }),
        message_of([&] {
          evaluate(program([&](Tensor x) { return jvp(f)(x, x).second; }, f64[{3}]), {ones({3})});
        })}) {
    expect_says(message, "has no forward mode");
    expect_says(message, "custom_vjp_test.cc");
  }
  // In a loop, in each iteration.
  const auto looped = [](Tensor x) {
    return fori_loop(0, 3, [](Tensor, Tensor t) { return 2.0 * clipped(t); }, x);
  };
  EXPECT_EQ(grad(looped)(1.0).item(), 1);
  EXPECT_EQ(grad([&](Tensor x) { return 0.1 * looped(x); })(1.0).item(), 0.8);
}

TEST(CustomVjp, a_linear_backward_function_gives_forward_mode_too) {
  const auto f =
      custom_vjp([](Tensor x, Tensor y) { return std::pair{sin(x) * y, x + y}; },
                 [](Tensor x, Tensor y) {
                   return std::pair{std::pair{sin(x) * y, x + y}, std::tuple{cos(x) * y, sin(x)}};
                 },
                 [](std::tuple<Tensor, Tensor> r, std::pair<Tensor, Tensor> ct) {
                   return std::pair{std::get<0>(r) * ct.first + ct.second,
                                    std::get<1>(r) * ct.first + ct.second};
                 });
  const auto on_vector = [](const auto& h) {
    return [h](Tensor x) {
      const auto [a, b] = h(x, x * x);
      return a * b;
    };
  };
  expect_same(on_vector(f),
              on_vector([](Tensor x, Tensor y) { return std::pair{sin(x) * y, x + y}; }),
              numbers({3}));
}

TEST(CustomVjp, nested_rules_for_a_cube) {
  const auto square =
      custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair{x * x, x}; },
                 [](Tensor x, Tensor ct) { return 2 * x * ct; });
  const auto cube = custom_vjp([&](Tensor x) { return x * square(x); },
                               [&](Tensor x) { return std::pair{x * square(x), x}; },
                               [&](Tensor x, Tensor ct) { return 3 * square(x) * ct; });
  EXPECT_EQ(grad(cube)(2.0).item(), 12);
  EXPECT_EQ(grad(grad(cube))(2.0).item(), 12);
  EXPECT_EQ(grad(grad(grad(cube)))(2.0).item(), 6);
  expect_same(cube, [](Tensor x) { return x * x * x; }, numbers({2}), 1e-9);
}

TEST(CustomVjp, integers_are_passed_by) {
  const auto f =
      custom_vjp([](Tensor x, Tensor n) { return std::pair{x * n, n + 1}; },
                 [](Tensor x, Tensor n) { return std::pair{std::pair{x * n, n + 1}, n}; },
                 [](Tensor n, std::pair<Tensor, Tensor> ct) {
                   EXPECT_TRUE(ct.second.is_empty());
                   return std::tuple{ct.first * n, Tensor()};
                 });
  EXPECT_EQ(grad([&](Tensor x) { return f(x, 3).first * x; })(2.0).item(), 12);
  EXPECT_EQ(jvp([&](Tensor x) { return f(x, 3).first * x; })(2.0, 1.0).second.item(), 12);
}

TEST(CustomVjp, a_closure_keeps_the_order_of_what_it_holds_in_both_modes) {
  const auto f = [](Tensor a, Tensor b, Tensor x) {
    return custom_vjp([&](Tensor t) { return t * a / b; },
                      [&](Tensor t) { return std::pair{t * a / b, std::tuple<>()}; },
                      [&](std::tuple<>, Tensor ct) { return ct * a / b; })(x);
  };
  const auto slope = [&](Tensor a, Tensor b) {
    return jvp([&](Tensor x) { return f(a, b, x); })(5.0, 1.0).second;
  };
  const Program p = program(slope, f64[{}], f64[{}]);
  EXPECT_EQ(evaluate(p, {Tensor(6.0), Tensor(2.0)})[0].item(), 3);
  expect_equal(vmap(slope)(tensor({6.0, 1.0}), tensor({2.0, 4.0})), tensor({3.0, 0.25}));
}

TEST(CustomVjp, a_result_that_is_not_used_has_no_cotangent) {
  const auto both = custom_vjp([](Tensor x) { return Pair{x, x}; },
                               [](Tensor x) { return std::pair{Pair{x, x}, std::tuple<>()}; },
                               [](std::tuple<>, Pair ct) { return clamp(ct.a + ct.b, -9.0, 9.0); });
  EXPECT_EQ(grad([&](Tensor x) { return 2 * both(x).a; })(1.0).item(), 2);
  EXPECT_EQ(grad([&](Tensor x) { return 3 * both(x).b; })(1.0).item(), 3);
}

TEST(CustomVjp, a_closure_may_hold_what_does_not_vary) {
  const auto f = [](Tensor a, Tensor x) {
    return grad([&](Tensor t) {
      return custom_vjp([&](Tensor u) { return u * a; },
                        [&](Tensor u) { return std::pair{u * a, std::tuple<>()}; },
                        [&](std::tuple<>, Tensor ct) { return ct * a * 2; })(t) *
             t;
    })(x);
  };
  const Program p = program(f, f64[{}], f64[{}]);
  EXPECT_EQ(evaluate(p, {Tensor(3.0), Tensor(5.0)})[0].item(), 45);
  expect_equal(vmap(f, {unmapped, 0})(3.0, tensor({5.0, 1.0})), tensor({45.0, 9.0}));
  expect_equal(vmap(f, {0, unmapped})(tensor({3.0, 1.0}), 5.0), tensor({45.0, 15.0}));
  const auto in_closure = [](Tensor a) {
    return custom_vjp([&](Tensor u) { return u * a; },
                      [&](Tensor u) { return std::pair{u * a, std::tuple<>()}; },
                      [](std::tuple<>, Tensor ct) { return ct; })(2.0);
  };
  expect_says(message_of([&] { grad(in_closure)(3.0); }),
              "custom_vjp: the function holds a tensor");
}

}  // namespace
}  // namespace hom::testing
