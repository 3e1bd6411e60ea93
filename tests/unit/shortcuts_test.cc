// tests/unit/shortcuts_test.cc -- products guarded together: the same bits as guarded one by one
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hom/backends/cpu/explain.h>
#include <hom/hom.h>

namespace hom::testing {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Equal, where NaN equals NaN and 0 does not equal −0.
void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.astype(f64).to_vector();
  const auto y = b.astype(f64).to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool same = std::isnan(x[i]) ? std::isnan(y[i])
                                       : x[i] == y[i] && std::signbit(x[i]) == std::signbit(y[i]);
    ASSERT_TRUE(same) << "element " << i << ": " << x[i] << " and " << y[i];
  }
}

/// Products that lead to stores, to choices, to comparisons and to each other.
auto products(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor p = scale(a, b);
  const Tensor q = scale(p + c, b);
  const Tensor r = scale(where(c > 0.0, q, a), c);
  const Tensor s = where(scale(b, c) > 1.0, r - p, sqrt(abs(q)));
  return std::tuple{q * p, s, maximum(r, c), (scale(c, s) < r).astype(i32)};
}

/// All triples of numbers that products treat differently, as columns.
std::array<Tensor, 3> all_triples(Dtype dtype) {
  const std::vector<double> numbers{0.0, -0.0, 1.0, -2.5, inf, -inf, nan, 1e-30, 3.0};
  std::array<std::vector<double>, 3> columns;
  for (double a : numbers) {
    for (double b : numbers) {
      for (double c : numbers) {
        columns[0].push_back(a);
        columns[1].push_back(b);
        columns[2].push_back(c);
      }
    }
  }
  return {tensor(columns[0]).astype(dtype), tensor(columns[1]).astype(dtype),
          tensor(columns[2]).astype(dtype)};
}

class Shortcuts : public ::testing::TestWithParam<Tier> {};
INSTANTIATE_TEST_SUITE_P(Both, Shortcuts, ::testing::Values(Tier::interpreter, Tier::native),
                         [](const auto& tier) {
                           return tier.param == Tier::native ? "native" : "interpreter";
                         });

TEST_P(Shortcuts, have_the_bits_of_single_products) {
  const auto compiled = compile(&products, {.tier = GetParam()});
  for (const Dtype dtype : {f64, f32, f16, bf16}) {
    const auto [a, b, c] = all_triples(dtype);
    const auto [w0, w1, w2, w3] = products(a, b, c);
    const auto [g0, g1, g2, g3] = compiled(a, b, c);
    expect_same(w0, g0);
    expect_same(w1, g1);
    expect_same(w2, g2);
    expect_same(w3, g3);
  }
}

TEST_P(Shortcuts, hold_for_finite_numbers_of_any_count) {
  const auto compiled = compile(&products, {.tier = GetParam()});
  for (std::int64_t n : {0, 1, 3, 4, 8, 37}) {
    const Tensor a = uniform(key(1), {n}, -1, 1, f64);
    const Tensor b = uniform(key(2), {n}, -1, 1, f64);
    const Tensor c = uniform(key(3), {n}, -1, 1, f64);
    const auto [w0, w1, w2, w3] = products(a, b, c);
    const auto [g0, g1, g2, g3] = compiled(a, b, c);
    expect_same(w0, g0);
    expect_same(w1, g1);
    expect_same(w2, g2);
    expect_same(w3, g3);
  }
}

TEST(Shortcuts, are_taken_in_loops_without_reductions_only) {
  const auto source = [](const auto& f) {
    const TensorType x = f64[{1000}];
    std::string text = to_string(explain(compile(f, {.tier = Tier::native}), x, x, x), true);
    return text;
  };
  EXPECT_THAT(source(&products), ::testing::HasSubstr("else {"));
  const auto summed = [](Tensor a, Tensor b, Tensor c) {
    return sum(scale(scale(scale(a, b), c), a));
  };
  EXPECT_THAT(source(summed), ::testing::Not(::testing::HasSubstr("else {")));
}

}  // namespace
}  // namespace hom::testing
