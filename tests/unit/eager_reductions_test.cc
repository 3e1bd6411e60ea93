// tests/unit/eager_reductions_test.cc -- reductions and running sums against loops
#include <algorithm>

#include "eager_support.h"

namespace hom::testing {
namespace {

Shape random_axes(Random& random, std::size_t rank) {
  Shape axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (uniform(random, 0, 1)) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

/// The values that are reduced to each element, in row-major order.
template <Element T>
std::vector<std::vector<T>> terms_of(const Tensor& x, const Shape& axes) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < x.shape().size(); ++i) count *= contains(axes, i) ? 1 : x.shape()[i];
  std::vector<std::vector<T>> terms(static_cast<std::size_t>(count));
  for (const Shape& index : indices_of(x.shape())) {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (!contains(axes, i)) position = position * x.shape()[i] + index[i];
    }
    terms[static_cast<std::size_t>(position)].push_back(element<T>(x, index));
  }
  return terms;
}

template <Element T>
void check_reductions(Random& random) {
  const Shape shape = random_shape(random);
  const Tensor x = random_tensor<T>(random, shape, tame_element<T>);
  const Shape axes = random_axes(random, shape.size());
  const auto terms = terms_of<T>(x, axes);
  const Attributes attributes{{"axes", {axes}}};
  const auto sums = elements<T>(run("reduce_sum", attributes, x));
  const auto products = elements<T>(run("reduce_prod", attributes, x));
  ASSERT_EQ(sums.size(), terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    Wide<T> sum = 0;
    Wide<T> product = 1;
    long double scale = 0;
    for (T term : terms[i]) {
      sum += wide(term);
      product =
          dtype_of<T>().is_float() ? product * wide(term) : wide(narrow<T>(product * wide(term)));
      scale += std::fabs(static_cast<long double>(wide(term)));
    }
    expect_within<T>(sums[i], sum, scale, 4, "reduce_sum");
    expect_within<T>(products[i], product, std::fabs(static_cast<long double>(product)),
                     4 + terms[i].size(), "reduce_prod");
  }
  if (std::any_of(axes.begin(), axes.end(),
                  [&](std::int64_t axis) { return shape[static_cast<std::size_t>(axis)] == 0; }))
    return;
  const Tensor wild = random_tensor<T>(random, shape);
  const auto wild_terms = terms_of<T>(wild, axes);
  std::vector<T> largest, smallest;
  for (const auto& list : wild_terms) {
    T high = list[0];
    T low = list[0];
    for (T term : list) {
      if (term > high || term != term) high = high != high ? high : term;
      if (term < low || term != term) low = low != low ? low : term;
    }
    largest.push_back(high);
    smallest.push_back(low);
  }
  // Zeros of either sign are equal.
  const double steps = 0;
  const auto plus_zero = [](std::vector<T> values) {
    for (T& value : values) value = value == T{} ? T{} : value;
    return row_of(values);
  };
  expect_elements<T>(plus_zero(elements<T>(run("reduce_max", attributes, wild))),
                     elements<T>(plus_zero(largest)), steps, "reduce_max");
  expect_elements<T>(plus_zero(elements<T>(run("reduce_min", attributes, wild))),
                     elements<T>(plus_zero(smallest)), steps, "reduce_min");
}

TEST(EagerReductions, MatchLoopsOnEveryDtypeAndLayout) {
  Random random(21);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int round = 0; round < 120; ++round) check_reductions<T>(random);
    }
  });
}

TEST(EagerReductions, AndAndOrOnBool) {
  Random random(22);
  for (int round = 0; round < 100; ++round) {
    const Shape shape = random_shape(random);
    const Tensor x = random_tensor<bool>(random, shape);
    const Shape axes = random_axes(random, shape.size());
    std::vector<bool> all, any;
    for (const auto& list : terms_of<bool>(x, axes)) {
      all.push_back(std::all_of(list.begin(), list.end(), [](bool b) { return b; }));
      any.push_back(std::any_of(list.begin(), list.end(), [](bool b) { return b; }));
    }
    expect_elements<bool>(run("reduce_and", {{"axes", {axes}}}, x), all, 0, "reduce_and");
    expect_elements<bool>(run("reduce_or", {{"axes", {axes}}}, x), any, 0, "reduce_or");
  }
}

TEST(EagerReductions, EmptySumsAndProductsAreTheirIdentities) {
  const Tensor empty = tensor(std::vector<float>{}, Shape{2, 0});
  EXPECT_EQ(elements<float>(run("reduce_sum", {{"axes", {Shape{1}}}}, empty)),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(elements<float>(run("reduce_prod", {{"axes", {Shape{1}}}}, empty)),
            (std::vector<float>{1, 1}));
}

TEST(EagerReductions, AMillionEqualTermsAreExactToOnePartInAMillion) {
  for (float value : {0.1f, 0.7f, 1.0f / 3, 1e-3f, 12345.678f}) {
    for (std::int64_t n : {1000000, 999999, 1000003}) {
      const Tensor x =
          run("constant", {{"value", {double{value}}}, {"dtype", {f32}}, {"shape", {Shape{n}}}});
      const double got = run("reduce_sum", {{"axes", {Shape{0}}}}, x).item();
      EXPECT_NEAR(got / (static_cast<double>(value) * static_cast<double>(n)), 1, 1e-6) << value;
    }
  }
}

TEST(EagerReductions, SixteenBitSumsAccumulateInFloatAndRoundOnce) {
  for (Dtype dtype : {bf16, f16}) {
    const Tensor ones =
        run("constant", {{"value", {1.0}}, {"dtype", {dtype}}, {"shape", {Shape{1000}}}});
    EXPECT_EQ(run("reduce_sum", {{"axes", {Shape{0}}}}, ones).item(), 1000);
  }
}

/// The same logical values in a fresh row-major array.
template <Element T>
Tensor compacted(const Tensor& x) {
  return tensor(elements<T>(x), x.shape());
}

TEST(EagerReductions, TheOrderOfASumDoesNotDependOnTheLayout) {
  Random random(23);
  const auto draw = [](Random& r) {
    return std::ldexp(tame_element<float>(r), static_cast<int>(uniform(r, -20, 20)));
  };
  for (int round = 0; round < 60; ++round) {
    const Shape shape{uniform(random, 1, 40), uniform(random, 1, 90), uniform(random, 1, 40)};
    const Tensor x = random_tensor<float>(random, shape, draw);
    for (const Shape& axes :
         {Shape{0}, Shape{1}, Shape{2}, Shape{0, 1}, Shape{0, 2}, Shape{1, 2}, Shape{0, 1, 2}}) {
      const Tensor a = run("reduce_sum", {{"axes", {axes}}}, x);
      const Tensor b = run("reduce_sum", {{"axes", {axes}}}, compacted<float>(x));
      ASSERT_EQ(elements<float>(a), elements<float>(b))
          << to_string(axes) << " of " << to_string(shape);
    }
  }
}

TEST(EagerArgExtremes, TheFirstExtremeWinsAndTheFirstNanBeatsAll) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto place = [](const char* name, std::vector<double> values) {
    return run(name, {{"axis", {std::int64_t{0}}}}, row_of(values)).item<std::int64_t>();
  };
  EXPECT_EQ(place("argmax", {3, nan, 1, 5}), 1);
  EXPECT_EQ(place("argmin", {3, nan, 1, nan}), 1);
  EXPECT_EQ(place("argmax", {nan, nan, nan}), 0);
  EXPECT_EQ(place("argmax", {1, 5, 5, 2}), 1);
  EXPECT_EQ(place("argmin", {2, 1, 1, 5}), 1);
}

TEST(EagerArgExtremes, MatchLoopsOnEveryDtypeAndLayout) {
  Random random(24);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (int round = 0; round < 60; ++round) {
      const Shape shape = random_shape(random, 1);
      const std::int64_t axis = uniform(random, 0, static_cast<std::int64_t>(shape.size()) - 1);
      if (shape[static_cast<std::size_t>(axis)] == 0) continue;
      const Tensor x = random_tensor<T>(random, shape);
      std::vector<std::int64_t> first_max, first_min;
      for (const auto& list : terms_of<T>(x, {axis})) {
        const auto better = [&](bool max, std::size_t i, std::size_t best) {
          if (list[best] != list[best]) return false;
          return list[i] != list[i] || (max ? list[i] > list[best] : list[i] < list[best]);
        };
        std::size_t high = 0;
        std::size_t low = 0;
        for (std::size_t i = 1; i < list.size(); ++i) {
          if (better(true, i, high)) high = i;
          if (better(false, i, low)) low = i;
        }
        first_max.push_back(static_cast<std::int64_t>(high));
        first_min.push_back(static_cast<std::int64_t>(low));
      }
      expect_elements<std::int64_t>(run("argmax", {{"axis", {axis}}}, x), first_max, 0, "argmax");
      expect_elements<std::int64_t>(run("argmin", {{"axis", {axis}}}, x), first_min, 0, "argmin");
    }
  });
}

TEST(EagerCumulative, MatchLoopsInBothDirections) {
  Random random(25);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int round = 0; round < 80; ++round) {
        const Shape shape = random_shape(random, 1);
        const std::int64_t axis = uniform(random, 0, static_cast<std::int64_t>(shape.size()) - 1);
        const auto along = static_cast<std::size_t>(axis);
        const bool reverse = uniform(random, 0, 1);
        const Tensor x = random_tensor<T>(random, shape, tame_element<T>);
        const Attributes attributes{{"axis", {axis}}, {"reverse", {reverse}}};
        const Tensor sum = run("cumsum", attributes, x);
        const Tensor product = run("cumprod", attributes, x);
        const Tensor largest = run("cummax", attributes, x);
        const Tensor smallest = run("cummin", attributes, x);
        for (const Shape& index : indices_of(shape)) {
          Wide<T> want_sum = 0;
          Wide<T> want_product = 1;
          T high = element<T>(x, index);
          T low = high;
          long double scale = 0;
          Shape at = index;
          for (at[along] = reverse ? shape[along] - 1 : 0;; at[along] += reverse ? -1 : 1) {
            const T term = element<T>(x, at);
            want_sum += wide(term);
            want_product = dtype_of<T>().is_float() ? want_product * wide(term)
                                                    : wide(narrow<T>(want_product * wide(term)));
            scale += std::fabs(static_cast<long double>(wide(term)));
            high = std::max(high, term);
            low = std::min(low, term);
            if (at == index) break;
          }
          expect_within<T>(element<T>(sum, index), want_sum, scale, 1, "cumsum");
          expect_within<T>(element<T>(product, index), want_product,
                           std::fabs(static_cast<long double>(want_product)),
                           static_cast<long double>(shape[along]), "cumprod");
          ASSERT_EQ(element<T>(largest, index), high);
          ASSERT_EQ(element<T>(smallest, index), low);
        }
      }
    }
  });
}

TEST(EagerCumulative, RunningSumsDoNotDrift) {
  const Tensor ones =
      run("constant", {{"value", {1.0}}, {"dtype", {f32}}, {"shape", {Shape{1 << 25}}}});
  const Tensor sums = run("cumsum", {{"axis", {std::int64_t{0}}}, {"reverse", {false}}}, ones);
  EXPECT_EQ(element<float>(sums, {(1 << 25) - 1}), 33554432.0f);
  const Tensor tenths =
      run("constant", {{"value", {0.1}}, {"dtype", {f64}}, {"shape", {Shape{1000000}}}});
  const Tensor compensated =
      run("cumsum", {{"axis", {std::int64_t{0}}}, {"reverse", {false}}}, tenths);
  EXPECT_EQ(element<double>(compensated, {999999}),
            static_cast<double>(1000000 * static_cast<long double>(0.1)));
}

TEST(EagerCumulative, InfinitiesAndNansStay) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = row_of<double>({1, inf, 2, -inf, 3});
  expect_elements<double>(run("cumsum", {{"axis", {std::int64_t{0}}}, {"reverse", {false}}}, x),
                          {1, inf, inf, nan, nan}, 0, "cumsum");
  const Tensor y = row_of<double>({1, nan, 5});
  expect_elements<double>(run("cummax", {{"axis", {std::int64_t{0}}}, {"reverse", {false}}}, y),
                          {1, nan, nan}, 0, "cummax");
  expect_elements<double>(run("cummin", {{"axis", {std::int64_t{0}}}, {"reverse", {true}}}, y),
                          {nan, nan, 5}, 0, "cummin");
}

}  // namespace
}  // namespace hom::testing
