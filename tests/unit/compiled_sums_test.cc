// tests/unit/compiled_sums_test.cc -- long reductions of compiled code have the order of eager
// ones: along the vectors and across them, whole, in rows and in blocks, for lengths around every
// bound
#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom::testing {
namespace {

class compiled_sums : public ::testing::TestWithParam<Tier> {
 protected:
  template <class F>
  void expect_equal_to_eager(const F& f, const Tensor& x) {
    const Tensor eager = f(x);
    const Tensor got = compile(f, {.tier = GetParam()})(x);
    EXPECT_TRUE(array_equal(got, eager))
        << to_string(x.type()) << ": largest difference " << max(abs(got - eager)).item();
  }
};

INSTANTIATE_TEST_SUITE_P(tiers, compiled_sums,
                         ::testing::Values(Tier::interpreter, Tier::portable, Tier::native),
                         [](const auto& tier) {
                           return tier.param == Tier::interpreter ? "interpreter"
                                  : tier.param == Tier::portable  ? "portable"
                                                                  : "native";
                         });

/// Terms of all magnitudes and both signs, so that any other order has other bits.
Tensor terms(Dtype dtype, const Shape& shape) {
  const Tensor i = arange(element_count(shape)).astype(f64);
  return reshape((sin(i * 1.7) * exp(4.0 * cos(i * 0.31))).astype(dtype), shape);
}

constexpr std::int64_t lengths[] = {15,  16,  17,  63,  64,  65,  71,   72,  127,
                                    128, 200, 511, 512, 513, 575, 1087, 1500};

TEST_P(compiled_sums, have_the_order_of_eager_ones) {
  using Tensors = std::vector<Tensor>;
  const auto all = [](const Tensors& whole, const Tensors& rows, const Tensors& columns) {
    Tensors sums;
    for (const Tensor& x : whole) sums.push_back(sum(x));
    for (const Tensor& x : rows) sums.push_back(sum(x * x, {1}));
    for (const Tensor& x : columns) sums.push_back(sum(x * x, {0}));
    return sums;
  };
  for (const Dtype dtype : {f32, f64}) {
    Tensors whole;
    Tensors rows;
    Tensors columns;
    for (const std::int64_t n : lengths) {
      whole.push_back(terms(dtype, {n}));
      rows.push_back(terms(dtype, {3, n}));
      columns.push_back(terms(dtype, {n, 19}));
    }
    const Tensors eager = all(whole, rows, columns);
    const Tensors got = compile(all, {.tier = GetParam()})(whole, rows, columns);
    for (std::size_t i = 0; i < eager.size(); ++i) {
      EXPECT_TRUE(array_equal(got[i], eager[i]))
          << to_string(dtype) << ", case " << i / std::size(lengths) << ", length "
          << lengths[i % std::size(lengths)];
    }
  }
}

TEST_P(compiled_sums, of_16_bit_floats_accumulate_in_f32) {
  for (const std::int64_t n : {65, 513, 1100}) {
    for (const Dtype dtype : {f16, bf16}) {
      expect_equal_to_eager([](Tensor x) { return sum(x, {1}); }, terms(dtype, {2, n}));
      expect_equal_to_eager([](Tensor x) { return sum(x, {0}); }, terms(dtype, {n, 17}));
    }
  }
}

TEST_P(compiled_sums, of_two_reductions_in_one_loop) {
  const auto both = [](Tensor x) { return sum(x, {1}) + 2.0 * sum(x * x, {1}); };
  const auto both_across = [](Tensor x) { return sum(x, {0}) + 2.0 * max(x, {0}); };
  for (const std::int64_t n : {64, 130, 700}) {
    expect_equal_to_eager(both, terms(f32, {4, n}));
    expect_equal_to_eager(both_across, terms(f64, {n, 12}));
  }
}

TEST_P(compiled_sums, of_products_and_extremes_too) {
  const Tensor x = 1.0 + terms(f64, {5, 300}) * 1e-6;
  expect_equal_to_eager([](Tensor x) { return prod(x, {1}); }, x);
  expect_equal_to_eager([](Tensor x) { return max(x, {1}); }, x);
  expect_equal_to_eager([](Tensor x) { return min(transpose(x), {0}); }, x);
}

TEST_P(compiled_sums, keep_the_signs_of_zeros_and_not_a_number) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto total = [](Tensor x) { return 1.0 / sum(x, {1}); };
  expect_equal_to_eager(total, zeros({2, 600}) * -1.0);
  const Tensor with_nan = where(arange(600) == 333, tensor(nan, f64), terms(f64, {600}));
  const Tensor largest = compile([](Tensor x) { return max(x); }, {.tier = GetParam()})(with_nan);
  EXPECT_TRUE(std::isnan(largest.item()));
}

/// Long enough for blocks, each with a sum of its own; the last one is incomplete.
TEST_P(compiled_sums, of_many_terms_come_in_blocks) {
  const int before = threads();
  for (const int count : {1, 2}) {
    set_threads(count);
    for (const std::int64_t n : {1'000'000, 1'048'576, 1'300'333})
      expect_equal_to_eager([](Tensor x) { return sum(x * x + x); }, terms(f32, {n}));
  }
  set_threads(before);
}

}  // namespace
}  // namespace hom::testing
