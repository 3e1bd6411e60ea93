// tests/unit/rows_test.cc -- several numbers for each position, stored as rows: the same bits
#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/x86_code.h>
#include <hom/backends/nests/lower.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/hom.h>
#include <hom/tests/laws/plan_reference.h>

namespace hom::testing {
namespace {

/// `width` numbers for each position of x, side by side; one of them has no position in it.
Tensor rows_of(const Tensor& x, std::int64_t width) {
  std::vector<Tensor> columns;
  Tensor y = x;
  for (std::int64_t i = 0; i < width; ++i) {
    columns.push_back(i == 2 ? ones_like(x) : y);
    y = y * x + static_cast<double>(i);
  }
  return stack(columns, 1);
}

class Rows : public ::testing::TestWithParam<Tier> {};
INSTANTIATE_TEST_SUITE_P(All, Rows, ::testing::Values(Tier::native, Tier::portable),
                         [](const auto& tier) {
                           return tier.param == Tier::native ? "native" : "portable";
                         });

TEST_P(Rows, of_any_width_equal_eager_bit_for_bit) {
  const bool is_slow = GetParam() == Tier::portable;
  for (const std::int64_t width : {3, 4, 5, 8, 14, 30}) {
    if (is_slow && width != 14) continue;
    const auto f = [width](const Tensor& x) { return rows_of(x, width); };
    const auto compiled = compile(f, {.tier = GetParam()});
    for (const Dtype dtype : {f64, f32, f16, i64, i32}) {
      for (const std::int64_t n : {1, 4, 8, 29}) {
        if (is_slow && n != 29) continue;
        const Tensor x = (4 * uniform(key(1), {n}, -1, 1, f32)).astype(dtype);
        EXPECT_EQ(compiled(x).to_vector(), f(x).to_vector())
            << width << " columns of " << n << ", " << dtype.name();
      }
    }
  }
}

TEST_P(Rows, to_several_results_and_backwards) {
  const auto f = [](const Tensor& x) {
    const Tensor y = rows_of(x, 9);
    return std::pair{flip(y, {0}) + 1.0, concat({y, rows_of(2.0 * x, 6)}, 1)};
  };
  const auto compiled = compile(f, {.tier = GetParam()});
  for (const Dtype dtype : {f64, f32}) {
    const Tensor x = uniform(key(2), {37}, -1, 1, dtype);
    const auto want = f(x);
    const auto got = compiled(x);
    EXPECT_EQ(got.first.to_vector(), want.first.to_vector());
    EXPECT_EQ(got.second.to_vector(), want.second.to_vector());
  }
}

TEST(Rows, are_transposed_in_registers) {
  if (!cpu::x86::is_supported()) GTEST_SKIP() << "this processor has no machine code";
  for (const Dtype dtype : {f64, f32}) {
    const Program program =
        hom::program([](const Tensor& x) { return rows_of(x, 8); }, dtype[{100}]);
    const nest::Plan plan = nest::lower(optimise(program), laws::eager_routines());
    std::string text;
    for (const nest::Kernel& kernel : plan.kernels) text += cpu::x86::assembly(kernel, 32);
    EXPECT_NE(text.find(dtype == f64 ? "vperm2f128" : "vunpckhps"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hom::testing
