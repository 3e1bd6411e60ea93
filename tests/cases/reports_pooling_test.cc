// tests/cases/reports_pooling_test.cc -- pooling at the border, overlapping windows, einsum of
// diagonals
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <limits>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::array<Dtype, 4> float_dtypes{f64, f32, f16, bf16};

/// [n] as a signal of one channel.
Tensor signal(const Tensor& x) { return expand_dims(x, -1); }

// Row 70.

TEST(Reports, the_pullback_of_an_einsum_trace_is_the_identity) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = reshape(arange(1, 10), {3, 3}).astype(dtype);
    for (const char* text : {"ii->", "ii"}) {
      const auto trace = [&](Tensor t) { return einsum(text, t); };
      EXPECT_TRUE(near(trace(x), 15));
      EXPECT_TRUE(near(gradient(trace, x), {1, 0, 0, 0, 1, 0, 0, 0, 1}));
      EXPECT_TRUE(
          near(vjp(trace)(x).second(full({}, 2.5, dtype)), {2.5, 0, 0, 0, 2.5, 0, 0, 0, 2.5}));
    }
  }
}

TEST(Reports, pullbacks_of_other_repeated_subscripts) {
  const Tensor x = reshape(arange(1.0, 10.0), {3, 3});
  const auto diagonal_of = [](Tensor t) { return einsum("ii->i", t); };
  EXPECT_TRUE(
      near(vjp(diagonal_of)(x).second(tensor({1.0, 2.0, 3.0})), {1, 0, 0, 0, 2, 0, 0, 0, 3}));
  // The trace of a product is the sum of products with the transpose.
  const auto of_product = [](Tensor a, Tensor b) { return einsum("ij,ji->", a, b); };
  const Tensor y = x * x;
  const auto [in_a, in_b] = gradients(of_product, x, y);
  EXPECT_TRUE(agree(in_a, transpose(y)));
  EXPECT_TRUE(agree(in_b, transpose(x)));
  // x appears twice: its diagonal squared.
  const auto squares = [](Tensor t) { return einsum("ii,ii->", t, t); };
  EXPECT_TRUE(near(gradient(squares, x), {2, 0, 0, 0, 10, 0, 0, 0, 18}));
  const auto batch = [](Tensor t) { return einsum("...ii->", t); };
  const Tensor cube = reshape(arange(1.0, 9.0), {2, 2, 2});
  EXPECT_NE(message_of([&] { batch(cube); }).find("ellipsis"), std::string::npos);
  const auto traces = [](Tensor t) { return sum(einsum("...ii->...", t)); };
  EXPECT_TRUE(near(gradient(traces, cube), {1, 0, 0, 1, 1, 0, 0, 1}));
  const auto space = [](Tensor t) { return einsum("iii->", t); };
  EXPECT_TRUE(near(gradient(space, cube), {1, 0, 0, 0, 0, 0, 0, 1}));
}

// Row 100.

TEST(Reports, max_pool_pads_with_minus_infinity) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = signal(vector_of({-2, -1, -4, -3}, dtype));
    EXPECT_TRUE(near(max_pool(x, {3}, {.stride = {3}, .padding = {1}}), {-1, -3}));
    EXPECT_TRUE(
        near(max_pool(x, {3}, {.stride = {1}, .padding = Padding::same()}), {-1, -1, -1, -3}));
    EXPECT_TRUE(near(min_pool(-x, {3}, {.stride = {3}, .padding = {1}}), {1, 3}));
    // Padding takes no part of the gradient, also where everything is −∞.
    const auto f = [](Tensor t) { return sum(max_pool(t, {3}, {.stride = {2}, .padding = {1}})); };
    EXPECT_TRUE(near(gradient(f, full({3, 1}, -infinity, dtype)), {0.5, 1, 0.5}));
  }
  const Tensor least = full({2, 1}, INT32_MIN, i32);
  EXPECT_TRUE(near(max_pool(least, {2}, {.padding = {1}}), {INT32_MIN, INT32_MIN}));
}

TEST(Reports, avg_pool_with_and_without_the_padding) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = signal(vector_of({-2, -1, 0, 1}, dtype));
    PoolOptions options{.stride = {3}, .padding = {1}};
    EXPECT_TRUE(near(avg_pool(x, {3}, options), {-1.5, 0.5}));
    const auto f = [&](Tensor t) { return sum(avg_pool(t, {3}, options)); };
    EXPECT_TRUE(near(gradient(f, x), {0.5, 0.5, 0.5, 0.5}));
    options.count_padding = true;
    EXPECT_TRUE(near(avg_pool(x, {3}, options), {-1, 1.0 / 3}));
    EXPECT_TRUE(near(gradient(f, x), std::vector<double>(4, 1.0 / 3)));
  }
  // In two dimensions a corner has fewer elements than an edge.
  const PoolOptions same{.stride = {1, 1}, .padding = Padding::same()};
  EXPECT_TRUE(near(avg_pool(ones({3, 3, 1}), {3, 3}, same), std::vector<double>(9, 1)));
  PoolOptions counted = same;
  counted.count_padding = true;
  EXPECT_TRUE(near(avg_pool(ones({3, 3, 1}), {3, 3}, counted),
                   {4.0 / 9, 6.0 / 9, 4.0 / 9, 6.0 / 9, 1, 6.0 / 9, 4.0 / 9, 6.0 / 9, 4.0 / 9}));
}

TEST(Reports, gradients_of_overlapping_windows_add) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = signal(vector_of({1, 5, 2, 4}, dtype));
    const auto largest = [](Tensor t) { return sum(max_pool(t, {3}, {.stride = {1}})); };
    EXPECT_TRUE(near(gradient(largest, x), {0, 2, 0, 0}));
    const auto means = [](Tensor t) { return sum(avg_pool(t, {2}, {.stride = {1}})); };
    EXPECT_TRUE(near(gradient(means, x), {0.5, 1, 1, 0.5}));
    // Ties share within their window.
    const Tensor ties = signal(vector_of({3, 3, 1, 3}, dtype));
    EXPECT_TRUE(near(gradient(largest, ties), {0.5, 1, 0, 0.5}));
  }
}

TEST(Reports, a_gradient_starts_from_zero_every_time) {
  const auto f = [](Tensor t) { return sum(max_pool(t, {2, 2}, {.stride = {1, 1}})); };
  const Tensor x = reshape(arange(1.0, 10.0), {3, 3, 1});
  const std::vector<double> want{0, 0, 0, 0, 1, 1, 0, 1, 1};
  const auto pullback = vjp(f)(x).second;
  for (int time = 0; time < 3; ++time) {
    EXPECT_TRUE(near(gradient(f, x), want));
    EXPECT_TRUE(near(pullback(1.0), want));
    // What was there before is overwritten: large numbers in memory of the same size.
    EXPECT_TRUE(near(sum(full({3, 3, 1}, 1e30)), 9e30));
  }
}

TEST(Reports, pooling_of_a_batch_is_pooling_of_each) {
  const Tensor x = sin(reshape(arange(2 * 5 * 4 * 3, f64), {2, 5, 4, 3}));
  const auto f = [](Tensor t) {
    return max_pool(t, {3, 2}, {.stride = {2, 1}, .padding = {1, 0}});
  };
  EXPECT_TRUE(agree(vmap(f)(x), f(x)));
  const auto g = [&](Tensor t) { return sum(square(f(t))); };
  EXPECT_TRUE(agree(vmap(grad(g))(x), gradient(g, x)));
}

}  // namespace
}  // namespace hom::cases
