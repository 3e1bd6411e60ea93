// tests/unit/derivative_test.cc -- structures of derivatives, and corners of the functors
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

struct Pair {
  BOOST_HANA_DEFINE_STRUCT(Pair, (Tensor, a), (Tensor, b));
};

std::vector<double> values(const Tensor& x) { return x.to_vector(); }

TEST(Derivative, the_hessian_of_a_struct_has_one_entry_for_each_leaf) {
  const auto f = [](const Pair& p) { return p.a * p.a * sum(p.b * p.b); };
  const auto h = hessian(f)(Pair{Tensor(2.0), tensor({1.0, 3.0})});
  ASSERT_EQ(h.size(), 2u);
  EXPECT_EQ(h[0].a.item(), 20);
  EXPECT_EQ(values(h[0].b), (std::vector<double>{8, 24}));
  EXPECT_EQ(values(h[1].a), (std::vector<double>{8, 24}));
  EXPECT_EQ(values(h[1].b), (std::vector<double>{8, 0, 0, 8}));
}

TEST(Derivative, jacobians_of_vectors_and_maps_keep_their_structure) {
  const auto f = [](const std::map<std::string, Tensor>& m) {
    return std::vector<Tensor>{m.at("x") * m.at("y"), m.at("y")};
  };
  const auto j = jacobian(f)(std::map<std::string, double>{{"x", 2.0}, {"y", 5.0}});
  ASSERT_EQ(j.size(), 2u);
  EXPECT_EQ(j[0].at("x").item(), 5);
  EXPECT_EQ(j[0].at("y").item(), 2);
  EXPECT_EQ(j[1].at("x").item(), 0);
  EXPECT_EQ(j[1].at("y").item(), 1);
}

TEST(Derivative, an_integer_argument_has_no_row_and_no_column_in_the_hessian) {
  const auto f = [](Tensor n, Tensor x) { return n * x * x; };
  const auto h = hessian(f, wrt<0, 1>)(3, 2.0);
  EXPECT_TRUE(std::get<0>(std::get<0>(h)).is_empty());
  EXPECT_TRUE(std::get<1>(std::get<0>(h)).is_empty());
  EXPECT_TRUE(std::get<0>(std::get<1>(h)).is_empty());
  EXPECT_EQ(std::get<1>(std::get<1>(h)).item(), 6);
}

TEST(Derivative, a_pullback_transposes_back_to_the_derivative) {
  const auto f = [](Tensor x) { return x * x; };
  const auto [value, pullback] = vjp(f)(tensor({1.0, 2.0}));
  EXPECT_EQ(values(pullback(tensor({1.0, 10.0}))), (std::vector<double>{2, 40}));
  EXPECT_EQ(values(transpose(pullback)(tensor({1.0, 10.0}))), (std::vector<double>{2, 40}));
}

TEST(Derivative, the_transpose_of_a_function_of_several_arguments_gives_each_its_own) {
  const auto f = [](Tensor x, Tensor y) { return std::tuple{2 * x + y(0), 3 * y}; };
  const auto transposed = transpose(f, f64[{}], f64[{2}]);
  const auto [x, y] = transposed(std::tuple{Tensor(10.0), tensor({1.0, 100.0})});
  EXPECT_EQ(x.item(), 20);
  EXPECT_EQ(values(y), (std::vector<double>{13, 300}));
}

TEST(Derivative, branches_nested_ten_deep_cost_ten_times_one) {
  const auto nested = [](auto self, Tensor x, int depth) -> Tensor {
    if (depth == 0) return x * x;
    return cond(
        x > 0, [&](Tensor y) { return self(self, y * 0.5, depth - 1); },
        [](Tensor) { return Tensor(0.0); }, x);
  };
  const auto built = [&](int depth) {
    const auto f = [&](Tensor x) { return nested(nested, x, depth); };
    std::size_t steps = 0;
    const auto count = [&](const auto& count_in, const Program& p) -> void {
      steps += p.step_count();
      for (std::size_t i = 0; i < p.step_count(); ++i) {
        for (const auto& [name, attribute] : p.step(i).attributes) {
          if (const auto* inner = std::get_if<ProgramPtr>(&attribute.value))
            count_in(count_in, **inner);
        }
      }
    };
    count(count, program(grad(f), f64[{}]));
    return steps;
  };
  EXPECT_LE(built(10), 12 * built(1));
  const auto f = [&](Tensor x) { return nested(nested, x, 3); };
  EXPECT_EQ(grad(f)(8.0).item(), 0.25);  // d (x/8)²
}

TEST(Derivative, functions_without_results_and_structures_without_leaves_are_fine) {
  const auto f = [](Tensor x) {
    named("nothing", [](Tensor) { return std::vector<Tensor>{}; })(x);
    const auto none = cond(
        x > 0, [](Tensor) { return std::optional<Tensor>{}; },
        [](Tensor) { return std::optional<Tensor>{}; }, x);
    return none ? x : x * x;
  };
  EXPECT_EQ(grad(f)(3.0).item(), 6);
}

TEST(Derivative, a_constant_function_has_gradient_zero_of_the_argument_type) {
  const Tensor gradient = grad([](Tensor) { return Tensor(1.0); })(tensor({1.f, 2.f}));
  EXPECT_TRUE(array_equal(gradient, zeros({2}, f32)));
}

TEST(Derivative, gradients_have_the_dtype_of_their_argument) {
  for (Dtype dtype : {f16, bf16, f32, f64}) {
    const auto f = [](Tensor w, Tensor x) { return sum(0.1 * w * x); };
    const auto [w, x] = grad(f, wrt<0, 1>)(ones({2}, dtype), ones({2}, f64));
    EXPECT_EQ(w.dtype(), dtype);
    EXPECT_EQ(x.dtype(), f64);
  }
}

TEST(Derivative, the_dtype_of_a_jacobian_does_not_depend_on_the_mode) {
  const auto f = [](Tensor w) { return w * tensor({1.0, 2.0}); };
  for (Mode mode : {Mode::forward, Mode::reverse, Mode::automatic}) {
    EXPECT_EQ(jacobian(f, mode)(ones({2}, f32)).dtype(), f64);
  }
}

}  // namespace
}  // namespace hom
