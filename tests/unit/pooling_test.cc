// tests/unit/pooling_test.cc -- windows and pooling against loops over indices, in value and in
// gradients
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  /// Small integers, so that every dtype holds the sums exactly, and ties are common.
  Tensor tensor_of(const TensorType& type) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < type.size(); ++i)
      values.push_back(static_cast<double>(below(7)) - (type.dtype.is_unsigned_integer() ? 0 : 3));
    return tensor(values, type.shape).astype(type.dtype);
  }

 private:
  std::mt19937 engine_;
};

/// Calls f(index) for every index of the shape, in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& f) {
  if (element_count(shape) == 0) return;
  Shape index(shape.size(), 0);
  for (;;) {
    f(index);
    std::size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

/// The place of the element in row-major order, or nothing where it is outside.
std::optional<std::size_t> place(const Shape& index, const Shape& shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (index[i] < 0 || index[i] >= shape[i]) return std::nullopt;
    flat = flat * shape[i] + index[i];
  }
  return static_cast<std::size_t>(flat);
}

struct Loops {
  Shape shape;
  /// For each window, the places of its elements.
  std::vector<std::vector<std::size_t>> windows;
};

Loops loops_over(const Shape& x, const Windows& w) {
  Loops loops;
  for (std::size_t i = 0; i < x.size(); ++i) {
    // Counted by moving the window until it no longer fits.
    std::int64_t count = 0;
    while (count * w.stride[i] + (w.window[i] - 1) * w.dilation[i] - w.low[i] < x[i] + w.high[i])
      ++count;
    loops.shape.push_back(count);
  }
  for_each_index(loops.shape, [&](const Shape& o) {
    std::vector<std::size_t> elements;
    for_each_index(w.window, [&](const Shape& k) {
      Shape p = o;
      for (std::size_t i = 0; i < p.size(); ++i)
        p[i] = o[i] * w.stride[i] + k[i] * w.dilation[i] - w.low[i];
      if (const auto at = place(p, x)) elements.push_back(*at);
    });
    loops.windows.push_back(elements);
  });
  return loops;
}

Windows random_windows(std::size_t rank, Random& random) {
  Windows w;
  for (std::size_t i = 0; i < rank; ++i) {
    w.window.push_back(1 + random.below(3));
    w.stride.push_back(1 + random.below(3));
    w.dilation.push_back(1 + random.below(2));
    w.low.push_back(random.below(3));
    w.high.push_back(random.below(3));
  }
  return w;
}

Shape random_shape(Random& random) {
  Shape shape;
  for (std::int64_t rank = random.below(4); rank > 0; --rank)
    shape.push_back(random.below(10) == 0 ? 0 : 1 + random.below(7));
  return shape;
}

bool has_empty(const Loops& loops) {
  for (const auto& window : loops.windows) {
    if (window.empty()) return true;
  }
  return false;
}

void expect_elements(const Tensor& got, const std::vector<double>& want, double tolerance,
                     const std::string& what) {
  const std::vector<double> values = got.to_vector();
  ASSERT_EQ(values.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << what << ", element " << i;
    } else {
      EXPECT_NEAR(values[i], want[i], tolerance * std::max(1.0, std::abs(want[i])))
          << what << ", element " << i;
    }
  }
}

std::string text_of(const Shape& shape, const Windows& w) {
  return to_string(shape) + " window " + to_string(w.window) + " stride " + to_string(w.stride) +
         " dilation " + to_string(w.dilation) + " low " + to_string(w.low) + " high " +
         to_string(w.high);
}

TEST(Windows, equal_loops_for_every_dtype) {
  Random random(1);
  int extremes = 0;
  for (int round = 0; round < 1200; ++round) {
    const Dtype dtypes[] = {f64, f32, f16, bf16, i64, i32, i8, u64, u32, u8};
    const Dtype dtype = dtypes[round % 10];
    const Shape shape = random_shape(random);
    const Windows w = random_windows(shape.size(), random);
    const std::string text = text_of(shape, w);
    const Tensor x = random.tensor_of(dtype[shape]);
    const std::vector<double> values = x.to_vector();
    const Loops loops = loops_over(shape, w);
    std::vector<double> sums, largest, smallest;
    for (const auto& window : loops.windows) {
      double sum = 0, most = -inf, least = inf;
      for (std::size_t i : window) {
        sum += values[i];
        most = std::max(most, values[i]);
        least = std::min(least, values[i]);
      }
      sums.push_back(sum);
      largest.push_back(most);
      smallest.push_back(least);
    }
    const Tensor y = window_sum(x, w);
    ASSERT_EQ(y.type(), dtype[loops.shape]) << text;
    expect_elements(y, sums, 0, text);
    if (!has_empty(loops)) {
      ++extremes;
      expect_elements(window_max(x, w), largest, 0, text);
      expect_elements(window_min(x, w), smallest, 0, text);
    } else if (!loops.windows.empty()) {
      EXPECT_THROW(window_max(x, w), Error) << text;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(extremes, 300);
}

TEST(Windows, gradients_are_shared_among_ties_and_add) {
  Random random(2);
  int checked = 0;
  for (int round = 0; round < 600; ++round) {
    const Dtype dtype = round % 3 == 0 ? f32 : f64;
    const Shape shape = random_shape(random);
    const Windows w = random_windows(shape.size(), random);
    const std::string text = text_of(shape, w);
    const Loops loops = loops_over(shape, w);
    const Tensor x = random.tensor_of(dtype[shape]);
    const Tensor ct = random.tensor_of(dtype[loops.shape]);
    const std::vector<double> values = x.to_vector();
    const std::vector<double> cotangents = ct.to_vector();
    std::vector<double> of_sum(values.size(), 0.0), of_max(values.size(), 0.0);
    for (std::size_t o = 0; o < loops.windows.size(); ++o) {
      double most = -inf;
      for (std::size_t i : loops.windows[o]) most = std::max(most, values[i]);
      double ties = 0;
      for (std::size_t i : loops.windows[o]) ties += values[i] == most;
      for (std::size_t i : loops.windows[o]) {
        of_sum[i] += cotangents[o];
        if (values[i] == most) of_max[i] += cotangents[o] / ties;
      }
    }
    const auto sums = [&](Tensor t) { return window_sum(t, w); };
    const auto largest = [&](Tensor t) { return window_max(t, w); };
    const auto smallest = [&](Tensor t) { return window_min(t, w); };
    expect_elements(vjp(sums)(x).second(ct), of_sum, 1e-6, text);
    if (has_empty(loops)) continue;
    expect_elements(vjp(largest)(x).second(ct), of_max, 1e-6, text);
    // min(x) = −max(−x)
    const Tensor opposite = vjp(smallest)(-x).second(ct);
    expect_elements(opposite, of_max, 1e-6, text);
    // ⟨ȳ, dy⟩ = ⟨x̄, dx⟩
    const Tensor dx = random.tensor_of(x.type());
    const Tensor dy = jvp(largest)(x, dx).second;
    const double forward = sum(dy * ct).item();
    const double reverse = sum(dx * tensor(of_max, shape)).item();
    EXPECT_NEAR(forward, reverse, 1e-4 * std::max(1.0, std::abs(reverse))) << text;
    ++checked;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(checked, 150);
}

TEST(Windows, sums_of_a_million_terms_are_exact) {
  const Tensor x = full({1000, 1000}, 0.1, f32);
  const Tensor y = window_sum(x, {.window = {1000, 1000}});
  EXPECT_NEAR(y(0, 0).item(), 1e6 * static_cast<double>(0.1f), 0.1);
  EXPECT_EQ(window_sum(ones({4096}, bf16), {.window = {4096}})(0).item(), 4096);
}

TEST(Windows, integers_wrap) {
  const Tensor x = full({4}, 100, i8);
  EXPECT_EQ(window_sum(x, {.window = {3}}).to_vector(), (std::vector<double>{44, 44}));
  const Tensor least = full({2}, INT64_MIN, i64);
  EXPECT_EQ(window_max(least, {.window = {2}, .low = {1}, .high = {1}}).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>(3, INT64_MIN)));
}

TEST(Windows, nan_wins_and_takes_the_gradient) {
  const Tensor x = tensor({1.0, nan, 3.0, 4.0});
  const auto f = [](Tensor t) { return window_max(t, {.window = {2}}); };
  expect_elements(f(x), {nan, nan, 4}, 0, "values");
  expect_elements(vjp(f)(x).second(ones({3})), {0, 2, 0, 1}, 0, "gradient");
  expect_elements(window_min(x, {.window = {3}}), {nan, nan}, 0, "smallest");
}

TEST(Windows, lanes_equal_the_loop) {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    const Shape shape = random_shape(random);
    const Windows w = random_windows(shape.size(), random);
    if (has_empty(loops_over(shape, w))) continue;
    const auto f = [&](Tensor t) { return window_max(t, w); };
    const auto g = [&](Tensor t) { return grad([&](Tensor u) { return sum(sin(f(u))); })(t); };
    std::vector<Tensor> lanes;
    for (int lane = 0; lane < 3; ++lane) lanes.push_back(random.tensor_of(f64[shape]));
    const Tensor x = stack(lanes);
    for (int lane = 0; lane < 3; ++lane) {
      EXPECT_TRUE(array_equal(vmap(f)(x)(lane), f(lanes[static_cast<std::size_t>(lane)])));
      EXPECT_TRUE(array_equal(vmap(g)(x)(lane), g(lanes[static_cast<std::size_t>(lane)])));
    }
  }
}

TEST(Windows, views_give_the_same) {
  const Tensor x = reshape(sin(arange(24, f64)), {4, 6});
  const Windows w{.window = {2, 3}, .stride = {1, 2}, .low = {1, 0}};
  for (const Tensor& view :
       {flip(x, {0, 1}), transpose(reshape(x, {6, 4})), broadcast_to(x(0), {4, 6})}) {
    EXPECT_TRUE(array_equal(window_sum(view, w), window_sum(copy(view), w)));
    EXPECT_TRUE(array_equal(window_max(view, w), window_max(copy(view), w)));
  }
}

TEST(Windows, second_derivatives) {
  const Tensor x = reshape(sin(3.0 * arange(20, f64)), {4, 5});
  const Windows w{.window = {2, 3}, .stride = {1, 2}, .low = {1, 1}, .high = {0, 1}};
  EXPECT_NO_THROW(check_derivatives(
      grad([&](Tensor t) { return sum(exp(window_max(t, w)) * window_sum(t, w)); }), x));
}

// ---- pooling ----

TEST(Pooling, numbers_of_jax) {
  // By tests/oracles/convolution.py.
  const Tensor x = tensor({-2.0, -1.0, 0.0, 1.0});
  const Tensor signal = reshape(x, {4, 1});
  const PoolOptions padded{.stride = {3}, .padding = {1}};
  expect_elements(max_pool(signal, {3}, padded), {-1, 1}, 0, "max");
  expect_elements(avg_pool(signal, {3}, padded), {-1.5, 0.5}, 0, "avg");
  PoolOptions counted = padded;
  counted.count_padding = true;
  expect_elements(avg_pool(signal, {3}, counted), {-1, 1.0 / 3}, 1e-15, "avg with padding");
  const auto overlapping = [](Tensor t) {
    return max_pool(reshape(t, {6, 1}), {3}, {.stride = {1}, .padding = {1}});
  };
  const auto [y, pullback] = vjp(overlapping)(sin(arange(6, f64)));
  expect_elements(y,
                  {0.8414709848078965, 0.9092974268256817, 0.9092974268256817, 0.9092974268256817,
                   0.1411200080598672, -0.7568024953079282},
                  1e-15, "overlapping");
  expect_elements(pullback(reshape(arange(1.0, 7.0), {6, 1})), {0.0, 1.0, 9.0, 5.0, 6.0, 0.0}, 0,
                  "its pullback");
  const Tensor image = reshape(sin(arange(20, f64)), {1, 5, 4, 1});
  const PoolOptions options{.stride = {2, 2}, .padding = Padding::sides({1, 0}, {1, 0})};
  expect_elements(avg_pool(image, {3, 2}, options),
                  {-0.21856394629079254, 0.356997133851353, -0.07177598654662042,
                   0.07907582982196286, -0.341426672429604, 0.25994628968581585},
                  1e-15, "image");
}

TEST(Pooling, channels_and_batch_are_not_pooled) {
  Random random(4);
  const Tensor x = random.tensor_of(f64[{2, 3, 5, 7, 4}]);
  const Tensor y = max_pool(x, {2, 3});
  EXPECT_EQ(y.shape(), (Shape{2, 3, 2, 2, 4}));
  for_each_index(y.shape(), [&](const Shape& o) {
    double most = -inf;
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t j = 0; j < 3; ++j)
        most = std::max(most, x(o[0], o[1], 2 * o[2] + i, 3 * o[3] + j, o[4]).item());
    }
    EXPECT_EQ(y(o[0], o[1], o[2], o[3], o[4]).item(), most);
  });
  // Without a batch, and with channels first.
  EXPECT_TRUE(array_equal(max_pool(x(0, 1), {2, 3}), y(0, 1)));
  const Tensor first = move_axis(x, -1, 2);
  EXPECT_TRUE(
      array_equal(max_pool(first, {2, 3}, {.channels = Channels::first}), move_axis(y, -1, 2)));
  EXPECT_TRUE(array_equal(avg_pool(first, {2, 3}, {.channels = Channels::first}),
                          move_axis(avg_pool(x, {2, 3}), -1, 2)));
  EXPECT_TRUE(array_equal(min_pool(x, {2, 3}), -max_pool(-x, {2, 3})));
}

TEST(Pooling, same_padding_has_one_window_for_each_stride) {
  for (std::int64_t n = 1; n < 9; ++n) {
    for (std::int64_t window = 1; window < 5; ++window) {
      for (std::int64_t stride = 1; stride < 4; ++stride) {
        const Tensor x = reshape(arange(n, f64), {n, 1});
        const PoolOptions same{.stride = {stride}, .padding = Padding::same()};
        const Tensor y = max_pool(x, {window}, same);
        ASSERT_EQ(y.extent(0), (n + stride - 1) / stride);
        const std::int64_t places =
            std::max<std::int64_t>((y.extent(0) - 1) * stride + window - n, 0);
        for (std::int64_t o = 0; o < y.extent(0); ++o) {
          const std::int64_t last = o * stride - places / 2 + window - 1;
          EXPECT_EQ(y(o, 0).item(), static_cast<double>(std::min(last, n - 1)));
        }
      }
    }
  }
}

TEST(Pooling, partial_windows_count_where_they_begin_inside) {
  const Tensor x = reshape(arange(5, f64), {5, 1});
  EXPECT_EQ(max_pool(x, {2}).to_vector(), (std::vector<double>{1, 3}));
  EXPECT_EQ(max_pool(x, {2}, {.partial_windows = true}).to_vector(),
            (std::vector<double>{1, 3, 4}));
  expect_elements(avg_pool(x, {2}, {.partial_windows = true}), {0.5, 2.5, 4}, 0, "mean");
  // The padding counts, what is behind it does not.
  const PoolOptions counted{.padding = {1}, .partial_windows = true, .count_padding = true};
  expect_elements(avg_pool(x, {4}, counted), {3.0 / 4, 7.0 / 3}, 1e-15, "counted");
  // A window that would begin in the padding after x is none.
  EXPECT_EQ(max_pool(x, {1}, {.stride = {5}, .padding = {0}, .partial_windows = true}).size(), 1);
  const PoolOptions behind{
      .stride = {3}, .padding = Padding::sides({0}, {1}), .partial_windows = true};
  EXPECT_EQ(max_pool(x(Range{0, 3}), {2}, behind).size(), 1);
}

TEST(Pooling, sixteen_bits_neither_overflow_nor_lose) {
  const Tensor x = full({1, 1000, 1}, 1000.0, f16);
  EXPECT_EQ(avg_pool(x, {1000})(0, 0, 0).item(), 1000);
  const Tensor ties = full({1, 4, 1}, 2.0, f16);
  const auto f = [](Tensor t) { return max_pool(t, {4}); };
  EXPECT_EQ(vjp(f)(ties).second(full({1, 1, 1}, 60000.0, f16)).to_vector(),
            std::vector<double>(4, 15000.0));
  const auto dy = jvp(f)(ties, full({1, 4, 1}, 60000.0, f16)).second;
  EXPECT_EQ(dy.item(), 60000);
}

TEST(Pooling, gradients_equal_finite_differences) {
  const Tensor x = reshape(sin(arange(60, f64)), {2, 5, 3, 2});
  const PoolOptions same{.stride = {2, 1}, .padding = Padding::same()};
  EXPECT_NO_THROW(
      check_derivatives([&](Tensor t) { return sum(square(max_pool(t, {3, 2}, same))); }, x));
  EXPECT_NO_THROW(
      check_derivatives(grad([&](Tensor t) { return sum(sin(avg_pool(t, {3, 2}, same))); }), x));
  // The mean of everything is the mean.
  expect_elements(avg_pool(x, {5, 3}), mean(x, {1, 2}).to_vector(), 1e-15, "global");
}

TEST(Pooling, empty_tensors_stay_empty) {
  EXPECT_EQ(max_pool(ones({0, 4, 4, 3}), {2, 2}).shape(), (Shape{0, 2, 2, 3}));
  EXPECT_EQ(avg_pool(ones({2, 4, 4, 0}), {2, 2}).shape(), (Shape{2, 2, 2, 0}));
  EXPECT_EQ(max_pool(ones({2, 0, 4, 1}), {2, 2}).shape(), (Shape{2, 0, 2, 1}));
  EXPECT_EQ(max_pool(ones({2, 0, 1}), {2}, {.padding = Padding::same()}).shape(), (Shape{2, 0, 1}));
}

// ---- mistakes ----

void expect_error(const std::function<void()>& f, const std::vector<std::string>& parts) {
  try {
    f();
    ADD_FAILURE() << "no error: " << parts[0];
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
    EXPECT_NE(text.find("pooling_test.cc"), std::string::npos) << text;
  }
}

TEST(Pooling, mistakes_name_the_axis) {
  const Tensor x = ones({2, 4, 4, 3});
  expect_error([&] { max_pool(x, {5, 2}); },
               {"max_pool: a window of 5 does not fit axis 1 of f64[2, 4, 4, 3]"});
  expect_error([&] { avg_pool(x, {2, 2}, {.padding = {0, 2}}); },
               {"avg_pool: window 0 along axis 2 of f64[2, 4, 4, 3] has only padding"});
  expect_error([&] { max_pool(x, {2, 2}, {.padding = {2, 0}}); },
               {"max_pool: window 0 along axis 1", "pad by less than a window reaches"});
  expect_error([&] { max_pool(x, {2, 2}, {.stride = {2}}); },
               {"max_pool: stride [2] has 1 entries for 2 spatial axes"});
  expect_error([&] { max_pool(x, {2, 2}, {.stride = {2, 0}}); },
               {"max_pool: stride [2, 0] has an entry outside 1"});
  expect_error([&] { max_pool(x, {0, 2}); }, {"the window [0, 2] has an entry outside 1"});
  expect_error([&] { max_pool(x, {2, 2}, {.padding = {-1, 0}}); }, {"padding [-1, 0]"});
  expect_error([&] { max_pool(x, {1, 1, 1, 1}); }, {"does not slide over f64[2, 4, 4, 3]"});
  expect_error([&] { avg_pool(ones({4, 1}, i64), {2}); }, {"avg_pool: takes floats"});
  expect_error([&] { window_max(x, {.window = {1, 1}}); }, {"one entry for each axis"});
  expect_error([&] { window_max(ones({3}), {.window = {1}, .low = {1}}); },
               {"window_max: window 0 along axis 0 of f64[3] has only padding"});
}

TEST(Pooling, padding_that_counts_needs_no_element) {
  const Tensor x = ones({2, 1});
  const PoolOptions counted{.stride = {1}, .padding = {2}, .count_padding = true};
  expect_elements(avg_pool(x, {2}, counted), {0, 0.5, 1, 0.5, 0}, 0, "mean with padding");
}

}  // namespace
}  // namespace hom
