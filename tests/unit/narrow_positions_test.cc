// tests/unit/narrow_positions_test.cc -- positions compared with 32 bits: the same bits, and only
// where they fit
#include <algorithm>

#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/executable.h>
#include <hom/backends/nests/expand_functions.h>
#include <hom/backends/nests/lower.h>
#include <hom/backends/nests/narrow.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/hom.h>
#include <hom/tests/laws/plan_reference.h>

namespace hom::testing {
namespace {

/// Of a program that is one kernel: how many values are compared or converted with 32 bits.
std::int64_t narrowed(const Program& program) {
  const nest::Plan plan = nest::lower(optimise(program), laws::eager_routines());
  EXPECT_EQ(plan.kernels.size(), 1U);
  const std::vector<bool> wants = nest::wants_narrow_operands(plan.kernels.at(0));
  const nest::Kernel spelled_out = nest::expanded(plan.kernels.at(0));
  verify(spelled_out);
  return std::count(wants.begin(), wants.end(), true);
}

class NarrowPositions : public ::testing::TestWithParam<Tier> {
 protected:
  template <class F>
  void expect_eager_bits(const F& f) const {
    for (const std::int64_t n : {1, 7, 8, 33}) {
      const Tensor x = uniform(key(3), {n, n}, -1, 1, f32);
      const Tensor want = f(x);
      const Tensor got = compile(f, {.tier = GetParam()})(x);
      ASSERT_EQ(got.type(), want.type());
      EXPECT_EQ(got.to_vector(), want.to_vector()) << n;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, NarrowPositions,
                         ::testing::Values(Tier::interpreter, Tier::native, Tier::portable),
                         [](const auto& tier) {
                           return tier.param == Tier::native        ? "native"
                                  : tier.param == Tier::interpreter ? "interpreter"
                                                                    : "portable";
                         });

/// The row and the column of each element.
std::pair<Tensor, Tensor> places(const Tensor& x, Dtype dtype) {
  const std::int64_t n = x.extent(0);
  return {expand_dims(iota(dtype[{n}]), 1), expand_dims(iota(dtype[{n}]), 0)};
}

TEST_P(NarrowPositions, masks_of_positions) {
  for (const Dtype dtype : {i64, i32}) {
    expect_eager_bits([=](const Tensor& x) {
      const auto [i, j] = places(x, dtype);
      return where(j <= i, x, -1.0F) + where(j + 3 == 2 * i - 1, x, 0.5F) * x;
    });
  }
}

TEST_P(NarrowPositions, positions_as_floats) {
  expect_eager_bits([](const Tensor& x) {
    const auto [i, j] = places(x, i64);
    return x * (3 * j - i).astype(f32);
  });
}

TEST_P(NarrowPositions, beyond_32_bits) {
  // Equal in their low 32 bits.
  expect_eager_bits([](const Tensor& x) {
    const auto [i, j] = places(x, i64);
    return where((std::int64_t{1} << 32) * j + i == i, x, 2 * x);
  });
  // Bounds of the range of an i32, and one beyond.
  for (const std::int64_t edge : {std::int64_t{INT32_MAX}, std::int64_t{INT32_MIN}}) {
    for (const std::int64_t step : {-1, 0, 1}) {
      expect_eager_bits([=](const Tensor& x) {
        const auto [i, j] = places(x, i64);
        return where(j + (edge + step) > i, x, 2 * x);
      });
    }
  }
}

TEST_P(NarrowPositions, numbers_of_32_bits_wrap) {
  expect_eager_bits([](const Tensor& x) {
    const auto [i, j] = places(x, i32);
    return where(1'500'000'000 * j > i, x, (j * 1'999'999'999 - i).astype(f32));
  });
  for (const Dtype dtype : {i32, i64}) {
    expect_eager_bits([=](const Tensor& x) {
      const auto [i, j] = places(x, dtype);
      return (where(x > 0, j, i) * 70'000).astype(i32);
    });
  }
}

TEST(NarrowPositions, where_they_fit_and_nothing_else_is_wide) {
  const auto mask = [](const Tensor& x) {
    const auto [i, j] = places(x, i64);
    return where(j <= i, x, zeros_like(x));
  };
  EXPECT_EQ(narrowed(program(mask, f32[{9, 9}])), 1);
  EXPECT_EQ(narrowed(program(mask, f64[{9, 9}])), 0);
  const auto stretched = [](std::int64_t by) {
    return [by](const Tensor& x) {
      const auto [i, j] = places(x, i64);
      return where(by * j <= i, x, zeros_like(x));
    };
  };
  EXPECT_EQ(narrowed(program(stretched((1 << 28) - 1), f32[{9, 9}])), 1);
  EXPECT_EQ(narrowed(program(stretched(1 << 28), f32[{9, 9}])), 0);
}

}  // namespace
}  // namespace hom::testing
