// tests/unit/tiles_test.cc -- which loops come in tiles, and that they compute what they did
#include <hom/backends/nests/tiles.h>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom::testing {
namespace {

template <class F, class... Types>
std::string text_of(const F& f, const Types&... types) {
  return to_string(explain(compile(f, {.tier = Tier::interpreter}), types...));
}

bool has_tiles(const std::string& text) { return text.find(" in tiles of ") != std::string::npos; }

Tensor numbers(Dtype dtype, const Shape& shape) {
  return reshape((arange(element_count(shape)).astype(f64) * 0.37).astype(dtype), shape);
}

TEST(Tiles, are_for_what_lies_across) {
  const auto turned = [](Tensor x) { return transpose(x); };
  EXPECT_TRUE(has_tiles(text_of(turned, f32[{300, 200}])));
  EXPECT_NE(text_of(turned, f64[{300, 200}]).find(" in tiles of 8 by 64"), std::string::npos);
  EXPECT_NE(text_of(turned, u8[{300, 200}]).find(" in tiles of 64 by 64"), std::string::npos);
  // With what is computed before and after, and beside an array that lies along.
  EXPECT_TRUE(has_tiles(text_of([](Tensor x, Tensor y) { return exp(transpose(2.0 * x) + y); },
                                f32[{300, 200}], f32[{200, 300}])));
  EXPECT_TRUE(
      has_tiles(text_of([](Tensor x) { return transpose(x, {0, 2, 1}); }, f32[{5, 300, 200}])));
}

TEST(Tiles, are_not_for_what_lies_along_or_is_short) {
  EXPECT_FALSE(has_tiles(text_of([](Tensor x) { return x + 1.0; }, f32[{300, 200}])));
  EXPECT_FALSE(has_tiles(text_of([](Tensor x) { return transpose(x); }, f32[{50, 40}])));
  EXPECT_FALSE(has_tiles(text_of([](Tensor x) { return sum(x, {0}); }, f32[{300, 200}])));
}

/// A check that fails first has to be told, so its iterations have an order.
TEST(Tiles, are_not_for_checks) {
  EXPECT_FALSE(has_tiles(text_of([](Tensor x, Tensor i) { return transpose(take(x, i)); },
                                 f32[{300, 200}], i32[{300}])));
}

class tiles : public ::testing::TestWithParam<Tier> {
 protected:
  template <class F>
  void expect_equal_to_eager(const F& f, const Tensor& x) {
    EXPECT_TRUE(array_equal(compile(f, {.tier = GetParam()})(x), f(x))) << to_string(x.type());
  }
};
INSTANTIATE_TEST_SUITE_P(tiers, tiles,
                         ::testing::Values(Tier::interpreter, Tier::portable, Tier::native),
                         [](const auto& tier) {
                           return tier.param == Tier::interpreter ? "interpreter"
                                  : tier.param == Tier::portable  ? "portable"
                                                                  : "native";
                         });

TEST_P(tiles, compute_what_rows_do) {
  const auto f = [](Tensor x) { return transpose(x * x + x); };
  for (const Dtype dtype : {f32, f64, bf16, i64, u8}) {
    for (const Shape& shape : {Shape{128, 8}, Shape{131, 77}, Shape{257, 65}})
      expect_equal_to_eager(f, numbers(dtype, shape));
  }
  expect_equal_to_eager([](Tensor x) { return transpose(x) + exp(arange(150).astype(f64)); },
                        numbers(f64, {150, 33}));
}

TEST_P(tiles, are_shared_among_threads_as_wholes) {
  const int before = threads();
  for (const int count : {1, 2}) {
    set_threads(count);
    expect_equal_to_eager([](Tensor x) { return transpose(x) * 2.0; }, numbers(f32, {1501, 1003}));
  }
  set_threads(before);
}

}  // namespace
}  // namespace hom::testing
