// tests/unit/implicit_test.cc -- implicit functions and fixed points: derivatives without those of
// the solver
#include <cmath>

#include "custom_rule_support.h"

namespace hom::testing {
namespace {

TEST(Implicit, a_square_root_by_newton_has_the_derivatives_of_the_square_root) {
  const auto newton = [](Tensor a) {
    return while_loop([&](Tensor x) { return max(abs(x * x - a)) > 1e-13; },
                      [&](Tensor x) { return (x + a / x) / 2; }, a);
  };
  const auto root = implicit(newton, [](Tensor x, Tensor a) { return x * x - a; });
  expect_same([&](Tensor t) { return root(2 + t * t); }, [](Tensor t) { return sqrt(2 + t * t); },
              numbers({3}), 1e-8);
}

TEST(Implicit, several_arguments_structures_and_integers) {
  // x + y = s, x − y = d.
  const auto f =
      implicit([](Pair p, Tensor n) { return std::pair{(p.a + p.b) / 2 * n, (p.a - p.b) / 2}; },
               [](std::pair<Tensor, Tensor> xy, Pair p, Tensor n) {
                 return std::pair{xy.first / n + xy.second - p.a, xy.first / n - xy.second - p.b};
               });
  const auto g = grad([&](Pair p, Tensor n) { return f(p, n).first * f(p, n).second; }, wrt<0, 1>)(
      Pair{Tensor(5.0), Tensor(1.0)}, 2);
  EXPECT_NEAR(std::get<0>(g).a.item(), 5, 1e-12);  // d (s² − d²)/2
  EXPECT_NEAR(std::get<0>(g).b.item(), -1, 1e-12);
  EXPECT_TRUE(std::get<1>(g).is_empty());
}

TEST(Implicit, a_solver_that_no_rule_could_differentiate) {
  // Bisection compares and selects: its own derivative would be 0.
  const auto bisected = [](Tensor a) {
    const auto [low, high] = fori_loop(
        0, 60,
        [&](Tensor, Tensor lower, Tensor upper) {
          const Tensor middle = (lower + upper) / 2;
          const Tensor below = middle * exp(middle) < a;
          return std::pair{where(below, middle, lower), where(below, upper, middle)};
        },
        std::pair{zeros_like(a), ones_like(a)});
    return (low + high) / 2;
  };
  const auto lambert = implicit(bisected, [](Tensor w, Tensor a) { return w * exp(w) - a; });
  const Tensor a = tensor({0.5, 1.0, 2.0});
  const Tensor w = bisected(a);
  expect_near(grad([&](Tensor t) { return sum(lambert(t)); })(a), w / (a * (1 + w)), 1e-12);
  EXPECT_TRUE(array_equal(grad([&](Tensor t) { return sum(bisected(t)); })(a), zeros({3})));
}

TEST(Implicit, of_no_unknowns_of_matrices_and_of_singular_equations) {
  const auto root =
      implicit([](Tensor a) { return sqrt(a); }, [](Tensor x, Tensor a) { return x * x - a; });
  const auto loss = [&](Tensor a) { return sum(root(a)); };
  EXPECT_EQ(grad(loss)(zeros({0})).type(), f64[{0}]);
  expect_equal(grad(loss)(ones({2, 2}, f32)), full({2, 2}, 0.5, f32));
  EXPECT_TRUE(std::isinf(grad(root)(0.0).item()));
}

TEST(Implicit, equations_in_any_order) {
  // ∂residual/∂x has zeros on its diagonal: rows are exchanged.
  const auto order = implicit([](Tensor a) { return Pair{a * a, 3 * a}; },
                              [](Pair x, Tensor a) { return Pair{x.b - 3 * a, x.a - a * a}; });
  const auto product = [&](Tensor a) { return order(a).a * order(a).b; };
  EXPECT_EQ(grad(product)(2.0).item(), 36);
  EXPECT_EQ(jvp(product)(2.0, 1.0).second.item(), 36);
}

TEST(FixedPoint, of_a_contraction_to_second_order) {
  const Tensor w = 0.3 * numbers({3, 3});
  const auto step = [&](Tensor x, Tensor t) { return tanh(matmul(w, x) + t); };
  const auto f = fixed_point(step, zeros({3}), {.tolerance = 1e-15});
  const auto unrolled = [&](Tensor t) {
    Tensor x = zeros({3});
    for (int i = 0; i < 60; ++i) x = step(x, t);
    return x;
  };
  const Tensor t = numbers({3}, 0.7);
  const auto loss = [](const auto& h) { return [h](Tensor u) { return sum(sin(h(u))); }; };
  expect_near(f(t), unrolled(t));
  expect_near(grad(loss(f))(t), grad(loss(unrolled))(t));
  expect_near(jacobian(f, Mode::forward)(t), jacobian(unrolled)(t));
  expect_near(hessian(loss(f))(t), hessian(loss(unrolled))(t), 1e-11);
  const Tensor batch = stack({t, -t});
  expect_near(vmap(grad(loss(f)))(batch), rows(grad(loss(unrolled)), batch));
}

TEST(FixedPoint, starts_anywhere_and_takes_products) {
  const auto cosine = fixed_point([](Tensor x, Tensor a) { return cos(a * x); }, 1.0);
  const double x = cosine(Tensor(1.0)).item();
  EXPECT_NEAR(x, 0.7390851332151607, 1e-11);
  EXPECT_NEAR(grad(cosine)(1.0).item(), -x * std::sin(x) / (1 + std::sin(x)), 1e-10);
  const auto babylonian =
      fixed_point([](Pair p, Tensor a) { return Pair{(p.a + a / p.a) / 2, 0.5 * p.b + a}; },
                  Pair{Tensor(1.0), Tensor(0.0)});
  const auto g = grad([&](Tensor a) { return babylonian(a).a * babylonian(a).b; })(4.0);
  EXPECT_NEAR(g.item(), 6.0, 1e-9);  // d √a · 2a = 3 √a
}

TEST(FixedPoint, ends_at_its_limit_with_nan_and_settles_in_every_dtype) {
  const auto growing =
      fixed_point([](Tensor x, Tensor a) { return x + a; }, zeros({2}), {.max_iterations = 7});
  expect_equal(growing(ones({2})), full({2}, std::nan("")));
  // The seventh iterate is the first that no longer changes, or not.
  const auto counting = [](Tensor x, Tensor a) { return minimum(x + 1, a); };
  const auto last = fixed_point(counting, 0.0, {.max_iterations = 7});
  expect_equal(vmap(last)(tensor({6.0, 7.0})), tensor({6.0, std::nan("")}));
  // The leaf that settles last counts, wherever it is.
  const auto halves = fixed_point([](Pair p, Tensor a) { return Pair{0.5 * p.a + a, 0 * p.b + a}; },
                                  Pair{Tensor(0.0), Tensor(0.0)});
  EXPECT_NEAR(halves(Tensor(1.0)).a.item(), 2, 1e-11);
  // Neither small nor large numbers go round for ever between neighbours.
  const auto babylonian = [](Tensor x, Tensor a) { return (x + a / x) / 2; };
  for (const Dtype dtype : {f16, bf16, f32, f64}) {
    const Tensor squares = tensor({2.0, 900.0, 3e4}).astype(dtype);
    const Tensor roots = fixed_point(babylonian, ones({3}, dtype))(squares);
    const Tensor off = abs(roots / sqrt(squares) - 1);
    EXPECT_LT(max(off).item<double>(), dtype == f64 ? 1e-12 : dtype == f32 ? 1e-6 : 0.02) << roots;
  }
  const auto large = fixed_point([](Tensor x, Tensor a) { return 0.3 * x + a; }, 0.0);
  EXPECT_NEAR(large(Tensor(7e9)).item(), 1e10, 1);
}

}  // namespace
}  // namespace hom::testing
