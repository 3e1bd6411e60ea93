// tests/unit/sorting_test.cc -- sorts and what is composed of them, against std::stable_sort
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Places = std::vector<std::int64_t>;

/// The order of a vector by a comparison: NaN after every number.
template <class T>
Places order_of(const std::vector<T>& x, bool descending) {
  Places places(x.size());
  std::iota(places.begin(), places.end(), 0);
  const auto less = [&](T a, T b) { return a < b || (b != b && a == a); };
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t i, std::int64_t j) {
    const T a = x[static_cast<std::size_t>(i)];
    const T b = x[static_cast<std::size_t>(j)];
    return descending ? less(b, a) : less(a, b);
  });
  return places;
}

/// n elements of a dtype, many of them equal, with the ends of its range among them.
Tensor mixed(Dtype dtype, std::int64_t n, std::uint64_t seed) {
  const Tensor few = (random_bits(key(seed), {n}, u32) % 7).astype(f64) - 3.0;
  if (dtype.is_bool()) return few > 0.0;
  if (!dtype.is_float()) {
    const Tensor any = random_bits(key(seed + 1), {n}, u64).astype(dtype);
    return where(few == 3.0, any, few.astype(dtype));
  }
  Tensor x = where(few == 3.0, uniform(key(seed + 2), {n}, -1e4, 1e4, f64), few);
  x = where(few == 2.0, nan, where(few == 1.0, infinity, where(few == -3.0, -infinity, x)));
  // −0 in odd places, so that a sort that tells it from +0 is found out.
  return where((few == 0.0) & (arange(n) % 2 == 1), -0.0, x).astype(dtype);
}

TEST(Sorting, sort_and_argsort_equal_stable_sort_in_every_dtype) {
  for (const Dtype dtype : all_dtypes) {
    for (const std::int64_t n : {0, 1, 2, 3, 17, 255, 256, 257, 1000}) {
      const Tensor x = mixed(dtype, n, 40 + static_cast<std::uint64_t>(n));
      for (const bool descending : {false, true}) {
        const Order order = descending ? Order::descending : Order::ascending;
        const Places want = visit(dtype, [&]<class T>() {
          if constexpr (std::is_integral_v<T> && !std::same_as<T, bool>) {
            return order_of(x.to_vector<T>(), descending);
          } else {
            return order_of(x.to_vector(), descending);
          }
        });
        EXPECT_EQ(argsort(x, 0, order).to_vector<std::int64_t>(), want) << dtype.name() << n;
        // The bits too: −0 stays −0.
        const Tensor moved = take(x, tensor(want));
        const Tensor y = sort(x, 0, order);
        EXPECT_TRUE(array_equal(y, moved, true)) << dtype.name() << n;
        if (dtype == f64) {
          EXPECT_TRUE(array_equal(bitcast(y, u64), bitcast(moved, u64)));
        }
      }
    }
  }
}

TEST(Sorting, long_sorts_of_64_bits_use_every_byte) {
  for (const Dtype dtype : {i64, u64, f64}) {
    const Tensor bits = random_bits(key(8), {5000}, u64);
    const Tensor x = dtype == f64 ? bitcast(bits, f64) : bits.astype(dtype);
    const Places want = dtype == i64   ? order_of(x.to_vector<std::int64_t>(), false)
                        : dtype == u64 ? order_of(x.to_vector<std::uint64_t>(), false)
                                       : order_of(x.to_vector(), false);
    EXPECT_EQ(argsort(x).to_vector<std::int64_t>(), want) << dtype.name();
  }
}

TEST(Sorting, a_sort_by_a_permutation_is_its_inverse) {
  const Tensor p = argsort(random_bits(key(2), {3, 300}, u64));
  const Tensor inverse = argsort(p);
  EXPECT_TRUE(array_equal(take_along_axis(p, inverse, 1), sort(p)));
  EXPECT_TRUE(array_equal(argsort(inverse), p));
  EXPECT_TRUE(array_equal(argsort(p, 1, Order::descending), flip(inverse, {1})));
  // Almost one: a number twice, or one outside.
  EXPECT_EQ(argsort(tensor<std::int64_t>({2, 0, 2})).to_vector<int>(), (std::vector{1, 0, 2}));
  EXPECT_EQ(argsort(tensor<std::int64_t>({1, 3, -1})).to_vector<int>(), (std::vector{2, 0, 1}));
}

TEST(Sorting, nan_is_last_and_zeros_are_equal) {
  const Tensor x = tensor({nan, 1.0, 0.0, -infinity, -0.0, nan, infinity});
  EXPECT_EQ(argsort(x).to_vector<std::int64_t>(), (Places{3, 2, 4, 1, 6, 0, 5}));
  EXPECT_EQ(argsort(x, 0, Order::descending).to_vector<std::int64_t>(),
            (Places{0, 5, 6, 1, 2, 4, 3}));
}

TEST(Sorting, every_axis_of_views_equals_the_loop_over_slices) {
  const Tensor whole = uniform(key(1), {4, 6, 5}, -1, 1, f64);
  const Tensor views[] = {whole, transpose(whole), flip(whole, {1}),
                          whole(Range{0, 4, 2}, all, Range{4, 0, -2}),
                          broadcast_to(whole(all, 0, newaxis), {4, 3, 5})};
  for (const Tensor& x : views) {
    for (std::int64_t axis = -3; axis < 3; ++axis) {
      const Tensor rows = move_axis(x, axis, -1);
      const std::int64_t n = rows.extent(-1);
      const Tensor flat = reshape(rows, {rows.size() / n, n});
      std::vector<Tensor> slices;
      for (std::int64_t i = 0; i < flat.extent(0); ++i)
        slices.push_back(take(flat(i), tensor(order_of(flat(i).to_vector(), true))));
      const Tensor want = move_axis(reshape(stack(slices), rows.shape()), -1, axis);
      EXPECT_TRUE(array_equal(sort(x, axis, Order::descending), want)) << axis;
    }
  }
}

TEST(Sorting, values_move_along_with_their_keys) {
  const Tensor keys = tensor({2, 1, 2, 0});
  const auto [k, v] = sort_by_key(keys, tensor({0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(k.to_vector<int>(), (std::vector{0, 1, 2, 2}));
  EXPECT_EQ(v.to_vector(), (std::vector{0.4, 0.2, 0.1, 0.3}));
}

TEST(Sorting, empty_axes_and_single_elements_stay) {
  EXPECT_EQ(sort(zeros({0})).shape(), (Shape{0}));
  EXPECT_EQ(argsort(zeros({3, 0}), 0).shape(), (Shape{3, 0}));
  EXPECT_EQ(sort(tensor({5.0})).to_vector(), (std::vector{5.0}));
  EXPECT_EQ(top_k(zeros({2, 0}), 0).values.shape(), (Shape{2, 0}));
  EXPECT_THROW(sort(Tensor(1.0)), Error);
}

TEST(Sorting, gradients_follow_the_elements) {
  const Tensor x = tensor({0.3, -1.0, 0.7, 0.1});
  const Tensor weight = tensor({1.0, 10.0, 100.0, 1000.0});
  const auto f = [&](Tensor t) { return sum(sort(t) * weight); };
  EXPECT_EQ(grad(f)(x).to_vector(), (std::vector{100.0, 1.0, 1000.0, 10.0}));
  EXPECT_EQ(
      jvp([](Tensor t) { return sort(t); })(x, tensor({1.0, 2.0, 3.0, 4.0})).second.to_vector(),
      (std::vector{2.0, 4.0, 1.0, 3.0}));
  const auto cube = [](Tensor t) { return sum(pow(sort(t, 0, Order::descending), 3.0)); };
  EXPECT_EQ(hessian(cube)(tensor({1.0, 3.0, 2.0})).to_vector(),
            (std::vector{6.0, 0.0, 0.0, 0.0, 18.0, 0.0, 0.0, 0.0, 12.0}));
  // Ties keep their order, and so do their gradients.
  EXPECT_EQ(grad(f)(tensor({2.0, 1.0, 2.0, 1.0})).to_vector(),
            (std::vector{100.0, 1.0, 1000.0, 10.0}));
}

TEST(Sorting, the_gradient_of_moved_values_goes_back_by_the_keys) {
  const Tensor keys = tensor({3, 1, 2});
  const auto f = [&](Tensor v) {
    return sum(sort_by_key(keys, v).second * tensor({1.0, 2.0, 3.0}));
  };
  EXPECT_EQ(grad(f)(tensor({0.0, 0.0, 0.0})).to_vector(), (std::vector{3.0, 1.0, 2.0}));
  const auto by_values = [](Tensor k) { return sum(sort_by_key(k, tensor({1.0, 2.0})).second); };
  EXPECT_EQ(grad(by_values)(tensor({2.0, 1.0})).to_vector(), (std::vector{0.0, 0.0}));
}

TEST(Sorting, top_k_gives_values_positions_and_gradients) {
  const Tensor x = tensor({{4.0, 9.0, 1.0, 9.0}, {2.0, -1.0, 8.0, 0.0}});
  const TopK best = top_k(x, 2);
  EXPECT_TRUE(array_equal(best.values, tensor({{9.0, 9.0}, {8.0, 2.0}})));
  EXPECT_TRUE(array_equal(best.indices, tensor<std::int64_t>({{1, 3}, {2, 0}})));
  const TopK down = top_k(x, 1, 0);
  EXPECT_TRUE(array_equal(down.values, tensor({{4.0, 9.0, 8.0, 9.0}})));
  const auto f = [](Tensor t) { return sum(top_k(t, 2).values * tensor({1.0, 2.0})); };
  EXPECT_TRUE(array_equal(grad(f)(x), tensor({{0.0, 1.0, 0.0, 2.0}, {2.0, 0.0, 1.0, 0.0}})));
}

TEST(Sorting, the_first_of_top_k_is_the_maximum_that_argmax_finds) {
  for (const Dtype dtype : all_dtypes) {
    const Tensor x = reshape(mixed(dtype, 60, 5), {6, 10});
    const TopK best = top_k(x, 1);
    EXPECT_TRUE(array_equal(best.indices(all, 0), argmax(x, -1))) << dtype.name();
    if (!dtype.is_bool()) {
      EXPECT_TRUE(array_equal(best.values(all, 0), max(x, -1), true));
    }
  }
}

TEST(Sorting, partition_has_the_kth_in_its_place) {
  const Tensor x = mixed(f32, 101, 9);
  const std::vector<double> in_order = sort(x).to_vector();
  for (const std::int64_t k : {0, 50, 100, -1}) {
    const Tensor y = partition(x, k);
    const auto place = static_cast<std::size_t>(k < 0 ? k + 101 : k);
    const std::vector<double> values = y.to_vector();
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_FALSE(i < place && values[i] > in_order[place]);
      EXPECT_FALSE(i > place && values[i] < in_order[place]);
    }
    EXPECT_TRUE(array_equal(take(x, argpartition(x, k)), y, true));
    EXPECT_TRUE(array_equal(sort(y), sort(x), true));
  }
}

TEST(Sorting, quantiles_interpolate_between_neighbours) {
  const Tensor x = tensor({{5.0, 1.0, 3.0}, {2.0, 8.0, 4.0}});
  EXPECT_EQ(median(x).item(), 3.5);
  EXPECT_EQ(median(x, 1).to_vector(), (std::vector{3.0, 4.0}));
  EXPECT_EQ(median(x, {0}, Keep::yes).shape(), (Shape{1, 3}));
  EXPECT_EQ(median(x, 0).to_vector(), (std::vector{3.5, 4.5, 3.5}));
  EXPECT_DOUBLE_EQ(quantile(x, 0.25).item(), 2.25);
  EXPECT_EQ(quantile(x, 0).item(), 1);
  EXPECT_EQ(quantile(x, 1).item(), 8);
  EXPECT_EQ(median(full({2}, 60000.0, f16)).item(), 60000);
  EXPECT_EQ(median(tensor({-infinity, infinity, infinity})).item(), infinity);
  EXPECT_EQ(median(tensor({1.0, infinity, infinity, infinity})).item(), infinity);
  EXPECT_TRUE(std::isnan(median(tensor({1.0, nan, 3.0})).item()));
  EXPECT_TRUE(array_equal(grad([](Tensor t) { return median(t); })(x),
                          tensor({{0.0, 0.0, 0.5}, {0.0, 0.0, 0.5}})));
  EXPECT_THROW(median(zeros({0})), Error);
  EXPECT_THROW(median(tensor({1, 2})), Error);
}

TEST(Sorting, searchsorted_counts_what_is_smaller) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 7, 8, 9, 100}) {
    const Tensor list = sort(mixed(f64, n, 3));
    const Tensor values = mixed(f64, 50, 4);
    const std::vector<double> in = list.to_vector();
    const auto less = [](double a, double b) { return a < b || (b != b && a == a); };
    Places left;
    Places right;
    for (double v : values.to_vector()) {
      left.push_back(std::lower_bound(in.begin(), in.end(), v, less) - in.begin());
      right.push_back(std::upper_bound(in.begin(), in.end(), v, less) - in.begin());
    }
    EXPECT_EQ(searchsorted(list, values).to_vector<std::int64_t>(), left) << n;
    EXPECT_EQ(searchsorted(list, values, Side::right).to_vector<std::int64_t>(), right) << n;
  }
  EXPECT_EQ(searchsorted(tensor({1, 3, 5}), 3).item<int>(), 1);
  EXPECT_EQ(searchsorted(tensor({1, 3, 5}), 3.5).item<int>(), 2);
  EXPECT_EQ(
      searchsorted(tensor({false, true}), tensor({true, false}), Side::right).to_vector<int>(),
      (std::vector{2, 1}));
}

TEST(Sorting, batches_equal_the_loop) {
  const Tensor x = uniform(key(6), {3, 4, 5}, -1, 1, f64);
  const auto each = [&](auto f) {
    std::vector<Tensor> results;
    for (std::int64_t i = 0; i < 3; ++i) results.push_back(f(x(i)));
    EXPECT_TRUE(array_equal(vmap(f)(x), stack(results)));
  };
  each([](Tensor t) { return sort(t, 0, Order::descending); });
  each([](Tensor t) { return argsort(t); });
  each([](Tensor t) { return top_k(t, 2, 0).indices; });
  each([](Tensor t) { return partition(t, 1, 0); });
  each([](Tensor t) { return median(t, 1); });
  each([](Tensor t) { return searchsorted(sort(t(0)), t); });
  each([](Tensor t) { return grad([](Tensor u) { return sum(top_k(u, 2).values * 2.0); })(t); });
  const Tensor keys = tensor({2, 0, 1, 3});
  each([&](Tensor t) { return sort_by_key(keys, t(all, 0)).second; });
}

TEST(Sorting, intervals_are_sorted_by_their_ends) {
  const IntervalTensor box(tensor({0.0, 5.0, 2.0}), tensor({9.0, 6.0, 3.0}));
  const IntervalTensor y = interval([](Tensor x) { return sort(x); })(box);
  EXPECT_EQ(y.lower().to_vector(), (std::vector{0.0, 2.0, 5.0}));
  EXPECT_EQ(y.upper().to_vector(), (std::vector{3.0, 6.0, 9.0}));
  const IntervalTensor z = interval([](Tensor x) { return argsort(x); })(box);
  EXPECT_EQ(z.lower().to_vector(), (std::vector{0.0, 0.0, 0.0}));
  EXPECT_EQ(z.upper().to_vector(), (std::vector{2.0, 2.0, 2.0}));
}

}  // namespace
}  // namespace hom
