// primitive_test.cc -- primitives from outside do whatever Hom's own do
#include <cmath>
#include <cstdint>

#include "support.h"

#include <hom/backends/cpu/eager.h>
#include <hom/categories/gad.h>
#include <hom/categories/matrices.h>

namespace extension {
namespace {

using namespace hom;

using Primitives = Extended;

const Tensor x = tensor({-2.0, -0.5, 0.0, 1.0, 3.0});

TEST_F(Primitives, run_on_both_dtypes_on_views_and_on_nothing) {
  EXPECT_EQ(squareplus(0.0).item(), 1);
  EXPECT_EQ(squareplus(1e200).item(), 1e200);
  EXPECT_EQ(squareplus(-1e20).item(), 1e-20);
  EXPECT_EQ(squareplus(x.astype(f32)).dtype(), f32);
  EXPECT_LT(distance(squareplus(x), (x + sqrt(x * x + 4.0)) / 2.0), 1e-15);
  EXPECT_LT(distance(squareplus(x.astype(f32)).astype(f64), squareplus(x)), 1e-6);
  EXPECT_TRUE(array_equal(squareplus(flip(x, {0})), flip(squareplus(x), {0})));
  EXPECT_EQ(squareplus(zeros(f32[{0, 3}])).shape(), (Shape{0, 3}));

  const Weights weights{.left = 1, .middle = -3, .right = 2};
  EXPECT_TRUE(
      array_equal(stencil(tensor({1.0, 10.0, 100.0}), weights), tensor({17.0, 171.0, -290.0})));
  const Tensor m = tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  EXPECT_TRUE(array_equal(stencil(m, weights, 0), stencil(m.T(), weights, 1).T()));
}

TEST_F(Primitives, raise_at_the_line_of_the_user) {
  std::uint32_t line = 0;
  const std::string message = error_of([&] {
    line = Location::current().line() + 1;
    squareplus(x.astype(f16));
  });
  EXPECT_NE(message.find("squareplus: takes f32, f64, got f16[5]"), std::string::npos) << message;
  EXPECT_NE(message.find("primitive_test.cc:" + std::to_string(line)), std::string::npos)
      << message;

  const std::string no_axis = error_of([&] {
    line = Location::current().line() + 1;
    grad([](Tensor t) { return sum(stencil(t, {}, 1)); })(x);
  });
  EXPECT_NE(no_axis.find("stencil"), std::string::npos) << no_axis;
  EXPECT_NE(no_axis.find("primitive_test.cc:" + std::to_string(line)), std::string::npos)
      << no_axis;
}

TEST_F(Primitives, have_derivatives_of_every_order_in_both_modes) {
  const auto f = [](Tensor t) { return sum(squareplus(stencil(squareplus(t), {1, -3, 2}))); };
  EXPECT_TRUE(check_derivatives(f, x).ok()) << check_derivatives(f, x);
  EXPECT_TRUE(check_derivatives(grad(f), x).ok()) << check_derivatives(grad(f), x);
  const Tensor slope = (1 + x / sqrt(x * x + 4)) / 2;
  EXPECT_LT(distance(grad([](Tensor t) { return sum(squareplus(t)); })(x), slope), 1e-15);
  const auto [y, dy] = jvp([](Tensor t) { return squareplus(t); })(x, ones_like(x));
  EXPECT_LT(distance(dy, slope), 1e-15);
  // The second derivative is 2 / (x² + 4)^(3/2).
  const Tensor curvature = hessian([](Tensor t) { return squareplus(t); })(Tensor(1.5));
  EXPECT_NEAR(curvature.item(), 2 / std::pow(1.5 * 1.5 + 4, 1.5), 1e-15);
}

TEST_F(Primitives, have_jacobians_and_transposes) {
  const auto f = [](Tensor t) { return stencil(t, {1, -3, 2}); };
  const Tensor j = jacobian(f)(x);
  EXPECT_EQ(j(1, 0).item(), 1);
  EXPECT_EQ(j(1, 1).item(), -3);
  EXPECT_EQ(j(1, 2).item(), 2);
  EXPECT_EQ(j(1, 3).item(), 0);
  EXPECT_TRUE(array_equal(j, jacobian(f, Mode::reverse)(x)));
  const Tensor back = transpose(f, x)(x);
  EXPECT_LT(distance(back, matmul(j.T(), x)), 1e-12);
  const std::string message =
      error_of([] { transpose([](Tensor t) { return squareplus(t); }, x)(x); });
  EXPECT_NE(message.find("squareplus"), std::string::npos) << message;
}

TEST_F(Primitives, have_lanes) {
  const Tensor batch = stack({x, 2.0 * x, x - 1.0});
  const auto f = [](Tensor t) { return squareplus(stencil(t, {1, -3, 2})); };
  const auto g = grad([f](Tensor t) { return sum(f(t)); });
  const Tensor values = vmap(f)(batch);
  const Tensor gradients = vmap(g)(batch);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(array_equal(values(i), f(batch(i))));
    EXPECT_TRUE(array_equal(gradients(i), g(batch(i))));
  }
  const auto branches = [f](Tensor t) {
    return cond(sum(t) > 0, [f](Tensor u) { return f(u); }, [](Tensor u) { return u; }, t);
  };
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(array_equal(vmap(branches)(batch)(i), branches(batch(i))));
}

TEST_F(Primitives, run_and_are_differentiated_in_loops) {
  const auto diffused = [](Tensor t) {
    const auto step = [](Tensor u, Tensor k) {
      const Tensor next = u + k * stencil(squareplus(u));
      return std::pair{next, sum(next)};
    };
    return scan(step, t, tensor({0.1, 0.2, 0.1})).first;
  };
  Tensor by_hand = x;
  for (double k : {0.1, 0.2, 0.1}) by_hand = by_hand + k * stencil(squareplus(by_hand));
  EXPECT_TRUE(array_equal(diffused(x), by_hand));
  EXPECT_TRUE(check_derivatives(diffused, x).ok()) << check_derivatives(diffused, x);
}

TEST_F(Primitives, are_printed_and_read_back) {
  const auto f = [](Tensor t) { return squareplus(stencil(t, {1, -3, 2})); };
  const Program p = program(grad([f](Tensor t) { return sum(f(t)); }), f64[{5}]);
  const std::string written = to_text(p);
  EXPECT_NE(written.find("stencil(v5) {left = 2.0, middle = -3.0, right = 1.0, axis = 0}"),
            std::string::npos)
      << written;
  EXPECT_EQ(parse_program(written), p);
  EXPECT_EQ(syntax(f, f64[{5}]).find("squareplus . stencil"), 0u) << syntax(f, f64[{5}]);
  EXPECT_NE(to_dot(graph(f, f64[{5}])).find("squareplus"), std::string::npos);
  EXPECT_EQ(cost(p).by_primitive.at("stencil"), 20);
}

TEST_F(Primitives, are_read_in_other_categories) {
  const auto f = [](Tensor t) { return squareplus(stencil(t, {1, -3, 2})); };
  const Program p = program(f, f64[{5}]);
  const categories::GAD<categories::Matrices> differentiable;
  const auto [y, derivative] = categories::read(differentiable, p)({x});
  EXPECT_TRUE(array_equal(y[0], f(x)));
  EXPECT_LT(distance(categories::to_tensor(derivative), jacobian(f)(x)), 1e-12);

  const auto bounds = interval([](Tensor t) { return squareplus(t); });
  const IntervalTensor range = bounds(IntervalTensor(x - 0.5, x + 0.5));
  for (double offset : {-0.5, 0.1, 0.5}) EXPECT_TRUE(range.contains(squareplus(x + offset)));
  EXPECT_LT(distance(range.upper(), squareplus(x + 0.5)), 1e-14);
  // This one has no bounds yet, and says so.
  const std::string message = error_of([] { interval([](Tensor t) { return stencil(t); })(x); });
  EXPECT_NE(message.find("intervals: no arrow for stencil: it has no rule for intervals"),
            std::string::npos)
      << message;
}

TEST_F(Primitives, are_gone_after_a_reset_while_their_programs_stay) {
  const Program p = program([](Tensor t) { return squareplus(stencil(t)); }, f64[{5}]);
  const std::string written = to_text(p);
  const KernelTable kernels = cpu_kernels();
  const Tensor before = evaluate(p, {x})[0];
  reset();
  EXPECT_FALSE(standard_primitives().contains("squareplus"));
  EXPECT_NE(error_of([] { squareplus(x); }).find("unknown primitive `squareplus`"),
            std::string::npos);
  EXPECT_NE(error_of([&] { parse_program(written); }).find("stencil"), std::string::npos);
  EXPECT_EQ(to_text(p), written);
  EXPECT_NE(error_of([&] { evaluate(p, {x}); }).find("no kernel"), std::string::npos);
  EagerExecutor executor(kernels);
  const ExecutorScope scope(executor);
  EXPECT_TRUE(array_equal(evaluate(p, {x})[0], before));
}

}  // namespace
}  // namespace extension
