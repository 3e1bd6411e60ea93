// tests/unit/check_derivatives_test.cc -- right rules pass, planted wrong ones are found and named,
// kinks are no mistakes

#include <map>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

struct Affine {
  BOOST_HANA_DEFINE_STRUCT(Affine, (Tensor, weight), (Tensor, bias));
};

Tensor numbers(std::int64_t n, Dtype dtype = f64) {
  return (sin(arange(n).astype(f64) * 1.7) + 1.5).astype(dtype);
}

TEST(CheckDerivatives, right_functions_pass_in_both_dtypes_and_to_second_order) {
  for (const Dtype dtype : {f32, f64}) {
    const Tensor x = numbers(6, dtype);
    const CheckOptions twice{.second_order = true};
    const auto passes = [&](const char* what, auto f) {
      const DerivativeReport report = check_derivatives(f, x, twice);
      EXPECT_TRUE(report.ok()) << what << ", " << to_string(dtype) << "\n" << report;
      EXPECT_FALSE(report.has(Agreement::kink)) << what << "\n" << report;
      EXPECT_FALSE(report.has(Agreement::unclear)) << what << ", " << to_string(dtype) << "\n"
                                                   << report;
      EXPECT_EQ(report.checks.size(), 2u);
    };
    passes("sin", [](Tensor t) { return sin(t); });
    passes("sum of squares", [](Tensor t) { return sum(t * t); });
    passes("softmax", [](Tensor t) { return softmax(t); });
    passes("product", [](Tensor t) { return prod(t); });
    passes("matmul", [](Tensor t) { return matmul(reshape(t, {2, 3}), reshape(exp(t), {3, 2})); });
    passes("cumsum", [](Tensor t) { return exp(-cumsum(t, 0)); });
    passes("update", [](Tensor t) {
      t.at(0) *= t(1);
      t.at(tensor({2, 2})) += t(Range{3, 5});
      return t;
    });
    passes("loop", [](Tensor t) {
      return fori_loop(0, 4, [](Tensor i, Tensor y) { return sin(y) + y(i); }, t);
    });
  }
}

TEST(CheckDerivatives, products_of_arguments_and_results_have_paths) {
  const auto f = [](const Affine& p, Tensor x, Tensor n) {
    return std::map<std::string, Tensor>{
        {"y", matmul(x, p.weight) + p.bias}, {"square", sum(x * x) * n}, {"count", n}};
  };
  const DerivativeReport report =
      check_derivatives(f, Affine{reshape(numbers(6), {3, 2}), numbers(2)}, numbers(3), 3);
  EXPECT_TRUE(report.ok()) << report;
  ASSERT_EQ(report.checks.size(), 6u);  // two float results by three float arguments
  EXPECT_EQ(report.checks[0].argument, "x.weight");
  EXPECT_NE(report.checks[0].result.find("square"), std::string::npos) << report.checks[0].result;
}

// ---- planted mistakes ----

TEST(CheckDerivatives, a_wrong_custom_jvp_is_found_and_its_line_named) {
  const Location here = Location::current();
  const auto wrong = custom_jvp([](Tensor x) { return sin(x); },
                                [](Tensor x, Tensor, Tensor dx) { return 1.1 * cos(x) * dx; });
  const auto f = [&](Tensor x) { return std::pair{x * x, exp(wrong(x) * 0.5)}; };
  for (const Dtype dtype : {f32, f64}) {
    const DerivativeReport report = check_derivatives(f, numbers(4, dtype));
    ASSERT_FALSE(report.ok()) << report;
    EXPECT_EQ(report.checks[0].agreement, Agreement::agrees) << report;
    EXPECT_EQ(report.checks[1].agreement, Agreement::parts) << report;
    ASSERT_TRUE(report.wrong_rule.has_value()) << report;
    EXPECT_EQ(report.wrong_rule->primitive, "custom_jvp");
    EXPECT_EQ(report.wrong_rule->line.line(), here.line() + 1);
    const std::string text = to_string(report);
    EXPECT_NE(text.find("both modes part from differences"), std::string::npos) << text;
  }
}

TEST(CheckDerivatives, a_small_error_in_one_element_is_found_at_its_index) {
  const auto wrong =
      custom_jvp([](Tensor x) { return sin(x); },
                 [](Tensor x, Tensor, Tensor dx) { return (cos(x) * dx).at(3).mul(1.0001); });
  const DerivativeReport report = check_derivatives(wrong, numbers(5));
  ASSERT_EQ(report.checks.size(), 1u);
  EXPECT_EQ(report.checks[0].agreement, Agreement::parts) << report;
  EXPECT_EQ(report.checks[0].index, (Shape{3})) << report;
}

TEST(CheckDerivatives, a_wrong_custom_vjp_is_found_though_it_has_no_forward_mode) {
  const auto wrong =
      custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair{x * x, x}; },
                 [](Tensor x, Tensor ct) { return 3.0 * x * clamp(ct, -9.0, 9.0); });
  const DerivativeReport report =
      check_derivatives([&](Tensor x) { return sum(wrong(x)); }, numbers(3));
  EXPECT_FALSE(report.ok()) << report;
  ASSERT_TRUE(report.wrong_rule.has_value()) << report;
  EXPECT_EQ(report.wrong_rule->primitive, "custom_vjp");
}

TEST(CheckDerivatives, a_wrong_transpose_is_found_by_the_adjoint_identity) {
  const auto wrong = custom_linear([](Tensor a, Tensor x) { return matmul(a, x); },
                                   [](Tensor a, Tensor ct) { return matmul(a, ct); });
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.0}});
  const DerivativeReport report =
      check_derivatives([&](Tensor x) { return wrong(a, sin(x)); }, numbers(2));
  EXPECT_FALSE(report.ok()) << report;
  ASSERT_TRUE(report.wrong_rule.has_value()) << report;
  EXPECT_EQ(report.wrong_rule->primitive, "custom_linear");
  EXPECT_NE(to_string(report).find("reverse mode parts from"), std::string::npos) << report;
}

/// sin as a primitive of one's own, with this derivative rule.
const Primitive& own_sine(const char* name, DerivativeRule derivative) {
  return standard_primitives().add(
      {.name = name,
       .dtypes = floats,
       .type = [](const Typing& t) { return std::vector{t.operands[0]}; },
       .derivative = std::move(derivative),
       .run =
           [](const Invocation& step, TensorList x) {
             return apply(standard_primitives().find("sin"), {}, {x.data(), x.size()}, step.at);
           }});
}

TEST(CheckDerivatives, a_wrong_primitive_of_ones_own_is_found_inside_calls_branches_and_loops) {
  const Primitive& p = own_sine(
      "wrong_sine", [](const Linearizing& at) { return std::vector{-cos(at.x[0]) * at.dx[0]}; });
  std::uint32_t line = 0;
  const auto wrong = [&](Tensor x) {
    line = Location::current().line() + 1;
    return apply_one(p, {}, {x}, Location::current());
  };
  const auto expect_found = [&](const char* what, auto f) {
    const DerivativeReport report = check_derivatives(f, numbers(3));
    EXPECT_FALSE(report.ok()) << what;
    ASSERT_TRUE(report.wrong_rule.has_value()) << what << "\n" << report;
    EXPECT_EQ(report.wrong_rule->primitive, "wrong_sine") << what << "\n" << report;
    EXPECT_EQ(report.wrong_rule->line.line(), line) << what;
  };
  expect_found("plain", [&](Tensor x) { return exp(wrong(cos(x))); });
  expect_found("call", [&](Tensor x) { return named("f", wrong)(cos(x)); });
  expect_found("cond",
               [&](Tensor x) { return cond(x(0) > 0, wrong, [](Tensor t) { return t; }, cos(x)); });
  expect_found("loop", [&](Tensor x) {
    return fori_loop(0, 3, [&](Tensor, Tensor t) { return wrong(t) + t; }, x);
  });
  expect_found("while loop", [&](Tensor x) {
    return while_loop([](Tensor t) { return sum(t) < 8.0; },
                      [&](Tensor t) { return wrong(t) * 0.1 + t + 0.5; }, x, {.bound = 9});
  });
  expect_found("checkpoint", [&](Tensor x) { return checkpoint(wrong)(cos(x)); });
}

TEST(CheckDerivatives, a_rule_that_is_wrong_only_when_differentiated_again_is_found) {
  // Its slope is right, but does not depend on x any more.
  const auto wrong =
      custom_jvp([](Tensor x) { return sin(x); },
                 [](Tensor x, Tensor, Tensor dx) { return stop_gradient(cos(x)) * dx; });
  EXPECT_TRUE(check_derivatives(wrong, numbers(3)).ok());
  const DerivativeReport report = check_derivatives(wrong, numbers(3), {.second_order = true});
  EXPECT_FALSE(report.ok()) << report;
  ASSERT_TRUE(report.wrong_rule.has_value()) << report;
  EXPECT_EQ(report.wrong_rule->primitive, "stop_gradient") << report;
}

// ---- kinks, and what cannot be told ----

TEST(CheckDerivatives, kinks_are_no_mistakes) {
  const Tensor x = tensor({-1.0, 0.0, 2.0});
  const auto is_kink = [&](const char* what, auto f) {
    const DerivativeReport report = check_derivatives(f, x);
    EXPECT_TRUE(report.ok()) << what << "\n" << report;
    EXPECT_TRUE(report.has(Agreement::kink)) << what << "\n" << report;
    EXPECT_FALSE(report.wrong_rule.has_value()) << what;
  };
  is_kink("relu", [](Tensor t) { return relu(t); });
  is_kink("sum of abs", [](Tensor t) { return sum(abs(t)); });
  is_kink("maximum", [](Tensor t) { return maximum(t, 0.0) * t(2); });
  // Away from its kink a function is as any other.
  const DerivativeReport report =
      check_derivatives([](Tensor t) { return relu(t); }, tensor({-1.0, 2.0}));
  EXPECT_TRUE(report.ok());
  EXPECT_FALSE(report.has(Agreement::kink)) << report;
}

TEST(CheckDerivatives, the_same_seed_gives_the_same_report) {
  const auto f = [](Tensor x) { return exp(x * x); };
  const auto text = [&](std::uint64_t seed) {
    std::string all;
    for (const DerivativeCheck& check : check_derivatives(f, numbers(5), {.seed = seed}).checks)
      all += std::to_string(check.deviation * 1e12) + " " + std::to_string(check.forward) + " ";
    return all;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(CheckDerivatives, empty_tensors_and_integers_have_nothing_to_check) {
  EXPECT_TRUE(check_derivatives([](Tensor x) { return x * x; }, zeros({0})).ok());
  EXPECT_THROW(check_derivatives([](Tensor n) { return n + 1; }, 3), Error);
  EXPECT_THROW(check_derivatives([](Tensor x) { return x > 0; }, 3.0), Error);
}

}  // namespace
}  // namespace hom
