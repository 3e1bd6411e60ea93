// tests/unit/routines_convolution_test.cc -- convolutions of a plan against the eager executor
#include <cstdlib>
#include <limits>

#include "routines_support.h"

#include <hom/backends/cpu/sharing.h>
#include <hom/backends/cpu/threads.h>
#include <hom/hom.h>

namespace hom::testing {
namespace {

struct Extents {
  Shape x, kernel;
  Attributes attributes;
  /// Of each output, at most.
  std::int64_t terms = 1;

  explicit Extents(Random& random) {
    const std::int64_t axes = uniform(random, 0, 2);
    const std::int64_t groups = uniform(random, 1, 3);
    const bool is_depthwise = uniform(random, 0, 4) == 0;
    const std::int64_t in = is_depthwise ? 1 : uniform(random, 1, 5);
    const std::int64_t out = is_depthwise ? 1 : uniform(random, 1, 20);
    Shape stride, low, high, lhs_dilation, rhs_dilation;
    x.push_back(uniform(random, 0, 3));
    for (std::int64_t i = 0; i < axes; ++i) {
      x.push_back(uniform(random, 1, 12));
      kernel.push_back(uniform(random, 1, 4));
      stride.push_back(uniform(random, 1, 3));
      lhs_dilation.push_back(uniform(random, 1, 2));
      rhs_dilation.push_back(uniform(random, 1, 2));
      // Padded enough for one output.
      low.push_back(uniform(random, 0, 2) + kernel.back() * rhs_dilation.back());
      high.push_back(uniform(random, -1, 3));
      terms *= kernel.back();
    }
    terms *= in;
    x.push_back(groups * in);
    kernel.push_back(in);
    kernel.push_back(groups * out);
    attributes = {{"stride", {stride}},
                  {"low", {low}},
                  {"high", {high}},
                  {"lhs_dilation", {lhs_dilation}},
                  {"rhs_dilation", {rhs_dilation}},
                  {"groups", {groups}}};
  }
};

template <Element T>
void check(const Attributes& attributes, const Tensor& x, const Tensor& kernel,
           std::int64_t terms) {
  const Tensor want = run("conv_general", attributes, x, kernel);
  const Prepared prepared("conv_general", attributes, {x, kernel});
  const Tensor got = prepared.run()[0];
  const std::string what =
      prepared.routine().describe() + ": " + to_string(x.type()) + " * " + to_string(kernel.type());
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    const Tensor magnitudes = run("conv_general", attributes, abs(x), abs(kernel));
    const std::vector<T> a = elements<T>(got), b = elements<T>(want),
                         scale = elements<T>(magnitudes);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_LE(std::abs(a[i] - b[i]),
                2 * static_cast<T>(terms) * std::numeric_limits<T>::epsilon() * scale[i])
          << what << ", element " << i;
    }
  } else {
    ASSERT_TRUE(array_equal(got, want)) << what;
  }
}

TEST(RoutinesConvolution, equals_eager_for_random_windows_and_dtypes) {
  Random random(1);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int i = 0; i < 120; ++i) {
        const Extents extents(random);
        check<T>(
            extents.attributes, row_major(random_tensor<T>(random, extents.x, tame_element<T>)),
            row_major(random_tensor<T>(random, extents.kernel, tame_element<T>)), extents.terms);
      }
    }
  });
}

TEST(RoutinesConvolution, equals_eager_where_patches_take_several_blocks) {
  Random random(2);
  const Attributes attributes{{"stride", {Shape{1, 1}}},       {"low", {Shape{1, 1}}},
                              {"high", {Shape{1, 1}}},         {"lhs_dilation", {Shape{1, 1}}},
                              {"rhs_dilation", {Shape{1, 1}}}, {"groups", {std::int64_t{1}}}};
  check<float>(attributes,
               row_major(random_tensor<float>(random, {2, 20, 21, 32}, tame_element<float>)),
               row_major(random_tensor<float>(random, {3, 3, 32, 40}, tame_element<float>)), 288);
}

Attributes plain(const Shape& pads, const Shape& strides) {
  const Shape ones(pads.size(), 1);
  return {{"stride", {strides}},    {"low", {pads}},          {"high", {pads}},
          {"lhs_dilation", {ones}}, {"rhs_dilation", {ones}}, {"groups", {std::int64_t{1}}}};
}

/// Operands whose windows have many terms: more than one block of them, in runs that are cut, or of
/// several images; lines of few outputs, and along an axis that is not the last.
template <Element T, class F>
void for_long_windows(F&& f) {
  struct Case {
    Shape x, kernel, pads, strides;
  };
  const Case cases[] = {{{2, 9, 8, 100}, {3, 3, 100, 21}, {1, 1}, {1, 1}},
                        {{3, 14, 15, 32}, {11, 12, 32, 8}, {0, 0}, {1, 1}},
                        {{1, 7, 6, 1100}, {2, 2, 1100, 5}, {0, 1}, {2, 1}},
                        {{9, 30, 40, 3}, {5, 5, 3, 16}, {2, 2}, {1, 1}},
                        {{5, 20, 2, 4}, {3, 2, 4, 40}, {1, 0}, {1, 1}},
                        {{2, 70, 33}, {5, 33, 70}, {2}, {2}},
                        {{1, 6, 7, 8, 9}, {3, 3, 3, 9, 33}, {1, 1, 1}, {1, 1, 1}}};
  Random random(5);
  for (const Case& c : cases)
    f(plain(c.pads, c.strides), row_major(random_tensor<T>(random, c.x, tame_element<T>)),
      row_major(random_tensor<T>(random, c.kernel, tame_element<T>)));
}

TEST(RoutinesConvolution, equals_eager_for_windows_of_many_terms) {
  const auto check_all = [&]<class T>() {
    for_long_windows<T>([](const Attributes& attributes, const Tensor& x, const Tensor& kernel) {
      check<T>(attributes, x, kernel, kernel.size() / kernel.shape().back());
    });
  };
  check_all.template operator()<float>();
  check_all.template operator()<double>();
}

TEST(RoutinesConvolution, has_the_same_bits_for_any_number_of_threads) {
  const cpu::SharingLimitsScope shared({.least_ns = 0, .chunk_ns = 2000});
  const int before = threads();
  const auto check_all = [&]<class T>() {
    for_long_windows<T>([](const Attributes& attributes, const Tensor& x, const Tensor& kernel) {
      const Prepared prepared("conv_general", attributes, {x, kernel});
      set_threads(1);
      const Tensor want = prepared.run()[0];
      for (const int count : {2, 3, 8}) {
        set_threads(count);
        EXPECT_TRUE(array_equal(prepared.run()[0], want)) << count << " threads";
      }
    });
  };
  check_all.template operator()<float>();
  check_all.template operator()<double>();
  set_threads(before);
}

TEST(RoutinesConvolution, keeps_to_the_library_that_is_asked_for) {
  const char* before = std::getenv("HOM_LIBRARIES");
  setenv("HOM_LIBRARIES", "none", 1);
  check<float>(plain({1, 1}, {1, 1}), row_major(ones({2, 6, 7, 3}, f32)),
               row_major(ones({3, 3, 3, 4}, f32)), 27);
  before ? setenv("HOM_LIBRARIES", before, 1) : unsetenv("HOM_LIBRARIES");
}

TEST(RoutinesConvolution, names_its_product_and_counts_its_work) {
  const Attributes attributes{{"stride", {Shape{1}}},       {"low", {Shape{0}}},
                              {"high", {Shape{0}}},         {"lhs_dilation", {Shape{1}}},
                              {"rhs_dilation", {Shape{1}}}, {"groups", {std::int64_t{1}}}};
  const Prepared prepared("conv_general", attributes,
                          {zeros({2, 10, 3}, f32), zeros({4, 3, 5}, f32)});
  EXPECT_TRUE(prepared.routine().describe().starts_with("conv_general by "));
  const nest::Work work = prepared.routine().work();
  EXPECT_EQ(work.flops, 2.0 * (2 * 7 * 5) * (4 * 3));
  EXPECT_EQ(work.bytes_read, 4.0 * (2 * 10 * 3 + 4 * 3 * 5));
  EXPECT_EQ(work.bytes_written, 4.0 * (2 * 7 * 5));
}

}  // namespace
}  // namespace hom::testing
