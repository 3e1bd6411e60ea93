// tests/cases/reports_sorting_test.cc -- sorts in batches, and NaN among the largest
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <cmath>
#include <limits>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Whether f on a batch is f on each of its elements.
template <class F>
void equals_the_loop(const F& f, const Tensor& x, std::int64_t axis) {
  std::vector<Tensor> results;
  const Tensor batch = move_axis(x, axis, 0);
  for (std::int64_t i = 0; i < batch.extent(0); ++i) results.push_back(f(batch(i)));
  EXPECT_TRUE(array_equal(vmap(f, axis)(x), stack(results), true));
}

// Row 66.

TEST(Reports, a_map_of_partition_and_top_k_equals_the_loop) {
  const Tensor x = uniform(key(66), {2, 3, 4}, -1, 1, f64);
  const auto parted = [](Tensor t) { return partition(t, 1); };
  const auto values = [](Tensor t) { return top_k(t, 2).values; };
  const auto indices = [](Tensor t) { return top_k(t, 2).indices; };
  EXPECT_EQ(vmap(parted)(x).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(vmap(values)(x).shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(vmap(indices)(x).shape(), (Shape{2, 3, 2}));
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    equals_the_loop(parted, x, axis);
    equals_the_loop(values, x, axis);
    equals_the_loop(indices, x, axis);
    equals_the_loop([](Tensor t) { return argpartition(t, 0, 0); }, x, axis);
    equals_the_loop([](Tensor t) { return sort(t, 0, Order::descending); }, x, axis);
    equals_the_loop(
        [](Tensor t) {
          return grad([](Tensor u) { return sum(pow(top_k(u, 2, 0).values, 3.0)); })(t);
        },
        x, axis);
  }
  // A map of a map.
  const auto row = [](Tensor t) { return top_k(t, 2).values; };
  EXPECT_TRUE(array_equal(vmap(vmap(row))(x), top_k(x, 2).values));
}

// Row 83.

TEST(Reports, top_k_puts_nan_first_and_its_values_match_its_positions) {
  for (const Dtype dtype : {f64, f32, f16, bf16}) {
    const Tensor x = vector_of({nan, -infinity, infinity, 0.0}, dtype);
    const TopK best = top_k(x, 3);
    EXPECT_TRUE(near(best.values, {nan, infinity, 0.0}));
    EXPECT_EQ(best.indices.to_vector<int>(), (std::vector{0, 2, 3}));
    EXPECT_TRUE(array_equal(take(x, best.indices), best.values, true));
    // The first is what max and argmax find; the last of a sort in ascending order too.
    EXPECT_TRUE(near(max(x), {nan}));
    EXPECT_EQ(argmax(x, 0).item<int>(), 0);
    EXPECT_TRUE(near(sort(x), {-infinity, 0.0, infinity, nan}));
    EXPECT_EQ(argsort(x).to_vector<int>(), (std::vector{1, 3, 2, 0}));
  }
}

TEST(Reports, nans_keep_their_order_and_so_do_their_gradients) {
  const Tensor x = tensor({1.0, -nan, 2.0, nan, -infinity});
  EXPECT_EQ(top_k(x, 5).indices.to_vector<int>(), (std::vector{1, 3, 2, 0, 4}));
  const Tensor ct = tensor({1.0, 2.0, 3.0});
  const auto pullback = vjp([](Tensor t) { return top_k(t, 3).values; })(x).second;
  EXPECT_TRUE(near(pullback(ct), {0.0, 1.0, 3.0, 2.0, 0.0}));
}

}  // namespace
}  // namespace hom::cases
