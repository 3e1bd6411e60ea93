// tests/unit/custom_linear_test.cc -- custom_linear: functions given with their transposes
#include "custom_rule_support.h"

namespace hom::testing {
namespace {

/// A x = b for lower-triangular A, by substitution.
Tensor substituted(const Tensor& a, const Tensor& b) {
  const std::int64_t n = b.extent(0);
  return fori_loop(
      0, n, [&](Tensor i, Tensor x) { return x.at(i).set((b(i) - sum(a(i) * x)) / a(i)(i)); },
      zeros({n}));
}
Tensor substituted_upper(const Tensor& a, const Tensor& b) {
  const std::int64_t n = b.extent(0);
  return fori_loop(
      0, n,
      [&](Tensor k, Tensor x) {
        const Tensor i = n - 1 - k;
        return x.at(i).set((b(i) - sum(a(i) * x)) / a(i)(i));
      },
      zeros({n}));
}
const auto solve = custom_linear(
    substituted, [](Tensor a, Tensor ct) { return substituted_upper(transpose(a), ct); });

TEST(CustomLinear, a_solver_with_its_transpose) {
  const Tensor a = tensor({{2.0, 0.0, 0.0}, {1.0, 3.0, 0.0}, {-1.0, 0.5, 1.5}});
  const Tensor b = tensor({1.0, -2.0, 0.5});
  expect_near(matmul(a, solve(a, b)), b);
  expect_same([&](Tensor x) { return solve(a, x * x); },
              [&](Tensor x) { return substituted(a, x * x); }, b);
  // In the matrix it is differentiated as written, here as A + t·B.
  const auto in_matrix = [&](const auto& s) {
    return [&a, &b, s](Tensor t) { return s(a + expand_dims(t, 1) * eye(3), b * t); };
  };
  expect_same(in_matrix(solve), in_matrix(substituted), numbers({3}), 1e-9);
  // Reverse mode runs the transposed solver and does not stack what the loop did.
  const Program p = program(grad([&](Tensor x) { return sum(solve(a, x)); }), f64[{3}]);
  EXPECT_EQ(count(p, "custom_linear"), 1U);
  const Tensor many = numbers({4, 3});
  expect_near(vmap(solve, {unmapped, 0})(a, many),
              rows([&](Tensor x) { return solve(a, x); }, many));
}

TEST(CustomLinear, transposes_and_products) {
  const auto f = custom_linear(
      [](Tensor s, std::pair<Tensor, Tensor> x) { return Pair{s * x.first + x.second, x.second}; },
      [](Tensor s, Pair ct) { return std::pair{s * ct.a, ct.a + ct.b}; });
  const auto [x, y] = transpose([&](Tensor p, Tensor q) { return f(3.0, std::pair{p, q}); },
                                f64[{}], f64[{}])(Pair{Tensor(1.0), Tensor(10.0)});
  EXPECT_EQ(x.item(), 3);
  EXPECT_EQ(y.item(), 11);
  const auto affine = [&](Tensor p) { return f(3.0, std::pair{p, Tensor(2.0)}); };
  expect_says(message_of([&] { transpose(affine, f64[{}])(Pair{Tensor(1.0), Tensor(1.0)}); }),
              "one operand does not depend on the input, so the result is only affine");
  // Only one of the operands varies, and only one result is used.
  EXPECT_EQ(grad([&](Tensor t) { return f(t, std::pair{t, Tensor(5.0)}).a; })(2.0).item(), 4);
  EXPECT_EQ(grad([&](Tensor t) { return f(2.0, std::pair{Tensor(1.0), t * t}).b; })(2.0).item(), 4);
  EXPECT_EQ(grad(grad([&](Tensor t) { return f(t, std::pair{t, Tensor(5.0)}).a; }))(2.0).item(), 2);
}

}  // namespace
}  // namespace hom::testing
