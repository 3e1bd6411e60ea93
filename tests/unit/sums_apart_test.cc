// tests/unit/sums_apart_test.cc -- reductions in loops of their own beside long bodies: the same
// bits
#include <hom/backends/nests/sums_apart.h>

#include <gtest/gtest.h>

#include <hom/backends/nests/lower.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/hom.h>
#include <hom/tests/laws/plan_reference.h>

namespace hom::testing {
namespace {

/// A long body, and sums, an extreme and a product of what it computes.
auto long_body(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 6; ++i) y = tanh(y * x + 0.25) - exp(-square(y));
  return std::tuple{y, sum(y * x), max(y), sum(exp(y)), prod(y + 1.0)};
}

template <class Results>
std::vector<Tensor> listed(const Results& results) {
  return std::apply([](const auto&... one) { return std::vector<Tensor>{one...}; }, results);
}

std::int64_t loops_with(const nest::Block& block, bool reductions) {
  std::int64_t count = 0;
  for (const nest::Statement& statement : block) {
    const auto* loop = std::get_if<nest::Loop>(&statement.is);
    if (loop == nullptr) continue;
    count += (loop->reductions.empty() != reductions) + loops_with(loop->body, reductions);
  }
  return count;
}

/// Of the kernels of the program: how many loops without reductions there are more than before.
std::int64_t loops_made(const Program& program) {
  const nest::Plan plan = nest::lower(optimise(program), laws::eager_routines());
  std::int64_t made = 0;
  for (const nest::Kernel& kernel : plan.kernels) {
    const nest::Kernel apart = nest::with_sums_apart(kernel);
    verify(apart);
    EXPECT_EQ(loops_with(apart.body, true), loops_with(kernel.body, true));
    made += loops_with(apart.body, false) - loops_with(kernel.body, false);
  }
  return made;
}

class SumsApart : public ::testing::TestWithParam<Tier> {};
INSTANTIATE_TEST_SUITE_P(All, SumsApart,
                         ::testing::Values(Tier::interpreter, Tier::native, Tier::portable),
                         [](const auto& tier) {
                           return tier.param == Tier::native        ? "native"
                                  : tier.param == Tier::interpreter ? "interpreter"
                                                                    : "portable";
                         });

TEST_P(SumsApart, equal_eager_bit_for_bit) {
  const auto compiled = compile(long_body, {.tier = GetParam()});
  for (const Dtype dtype : {f64, f32, f16}) {
    for (const std::int64_t n : {1, 3, 4, 7, 8, 14, 37, 64, 66, 100}) {
      // The system's compiler takes its time.
      if (GetParam() == Tier::portable && n != 14 && n != 37) continue;
      const Tensor x = uniform(key(static_cast<std::uint64_t>(n)), {n}, -1, 1, f32).astype(dtype);
      const auto want = listed(long_body(x));
      const auto got = listed(compiled(x));
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(got[i].to_vector(), want[i].to_vector())
            << "result " << i << " of " << n << " elements of " << dtype.name();
      }
    }
  }
}

TEST(SumsApart, where_positions_do_not_fill_vectors_and_bodies_are_long) {
  EXPECT_GT(loops_made(program(long_body, f64[{14}])), 0);
  EXPECT_EQ(loops_made(program(long_body, f64[{64}])), 0);
  const auto is_short = [](const Tensor& x) { return sum(square(x)); };
  EXPECT_EQ(loops_made(program(is_short, f64[{14}])), 0);
}

}  // namespace
}  // namespace hom::testing
