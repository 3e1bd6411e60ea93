// tests/cases/reports_compiled_test.cc -- what compilers of array programs were reported to get
// wrong
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom::cases {
namespace {

constexpr CompileOptions interpreted{.tier = Tier::interpreter};

/// Megabytes of memory that this process holds.
double resident() {
  std::ifstream status("/proc/self/statm");
  double total = 0, pages = 0;
  status >> total >> pages;
  return pages * 4096 / 1e6;
}

TEST(Reports, a_donated_input_with_other_strides_is_read_as_it_lies) {
  // mlx PR#812
  const auto f = [](Tensor x) { return x * 2.0 + x(0); };
  for (const CompileOptions& options : {CompileOptions{}, interpreted}) {
    const auto compiled = compile(f, options);
    Tensor x = reshape(arange(12).astype(f64), {3, 4}).T();
    const Tensor want = f(x);
    EXPECT_TRUE(array_equal(compiled(x), want));
    EXPECT_TRUE(array_equal(compiled(std::move(x)), want));
    Tensor reversed = flip(arange(6).astype(f64), {0});
    const Tensor flipped = f(reversed);
    EXPECT_TRUE(array_equal(compiled(std::move(reversed)), flipped));
  }
}

TEST(Reports, a_chain_of_100000_steps_is_compiled_with_its_gradient) {
  // pytorch#5534, #109948, #155322
  const auto f = [](Tensor x) {
    for (int i = 0; i < 50'000; ++i) x = sin(x) + 0.5;
    return x;
  };
  const Program both = value_and_gradient(program(f, f64[{}]), {true}, {});
  const std::vector<Tensor> want = evaluate(both, {Tensor(0.3)});
  const std::vector<Tensor> got = compile_program(both, interpreted)({Tensor(0.3)});
  EXPECT_TRUE(array_equal(got[0], want[0]));
  EXPECT_TRUE(array_equal(got[1], want[1]));
}

TEST(Reports, fresh_closures_compiled_in_a_loop_leave_nothing_behind) {
  // mlx#3932
  const auto once = [](int i, const CompileOptions& options) {
    const double offset = i % 7;
    const auto f = compile([offset](Tensor x) { return exp(x) + offset; }, options);
    f(ones({100, 100}));
  };
  for (const CompileOptions& options : {CompileOptions{}, interpreted}) {
    for (int i = 0; i < 50; ++i) once(i, options);
    const double before = resident();
    for (int i = 0; i < 500; ++i) once(i, options);
    EXPECT_LT(resident(), before + 20);
  }
}

TEST(Reports, a_number_that_changes_is_an_argument_and_not_a_reason_to_compile) {
  // mlx#3964
  const auto f = compile([](Tensor x, Tensor rate) { return x - rate * x; }, interpreted);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(f(8.0, 0.25 * i).item(), 8.0 - 2.0 * i);
  EXPECT_EQ(f.compilations(), 1u);
  EXPECT_EQ(f.programs().size(), 1u);
}

TEST(Reports, a_maximum_equals_itself_compiled) {
  // mlx#1234
  const Tensor x = exp(sin(reshape(arange(1000).astype(f32), {10, 100})));
  const auto f = [](Tensor y) {
    const Tensor e = exp(y);
    return any_of(e == max(e, 1, Keep::yes), Axes(1));
  };
  for (const CompileOptions& options : {CompileOptions{}, interpreted})
    EXPECT_TRUE(all_of(compile(f, options)(x)).item<bool>());
}

TEST(Reports, is_nan_knows_nan_compiled_even_where_sums_may_be_reordered) {
  // mlx#2900
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto f = [](Tensor x) { return is_nan(x * 1.0); };
  for (const bool reassociate : {false, true}) {
    for (const Tier tier : {Tier::automatic, Tier::interpreter}) {
      const auto compiled = compile(f, {.reassociate = reassociate, .tier = tier});
      EXPECT_TRUE(array_equal(compiled(tensor({1.0, nan, 0.0})), tensor({false, true, false})));
    }
  }
}

}  // namespace
}  // namespace hom::cases
