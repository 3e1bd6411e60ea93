// tests/unit/routines_convolution_test.cc -- convolutions of a plan against the eager executor
#include <limits>

#include "routines_support.h"

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
