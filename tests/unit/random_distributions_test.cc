// tests/unit/random_distributions_test.cc -- distributions against their distribution functions, at
// fixed keys, and their derivatives
//
// Kolmogorov's D·√n exceeds 1.95 for one key in a thousand, and χ² with k degrees of freedom
// k + 3.3·√2k + 4: the keys are fixed, so that a test that has passed passes always.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// √n·sup |F_n − F|
double distance(const Tensor& sample, const std::function<double(double)>& distribution) {
  const std::vector<double> x = sort(reshape(sample, {-1})).to_vector();
  const auto n = static_cast<double>(x.size());
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double f = distribution(x[i]);
    const auto k = static_cast<double>(i);
    most = std::max({most, f - k / n, (k + 1) / n - f});
  }
  return most * std::sqrt(n);
}

double chi_square(const std::vector<std::int64_t>& counts, const std::vector<double>& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double difference = static_cast<double>(counts[i]) - expected[i];
    sum += difference * difference / expected[i];
  }
  return sum;
}
double chi_square_limit(std::size_t classes) {
  const auto k = static_cast<double>(classes - 1);
  return k + 3.3 * std::sqrt(2 * k) + 4;
}

std::vector<std::int64_t> histogram(const Tensor& x, std::int64_t classes, std::int64_t low = 0) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  for (std::int64_t value : x.to_vector<std::int64_t>())
    ++counts.at(static_cast<std::size_t>(value - low));
  return counts;
}

double phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// P(α, x) by its series, and from far above by its continued fraction.
double gamma_distribution(double alpha, double x) {
  if (x <= 0) return 0;
  const double front = std::exp(alpha * std::log(x) - x - std::lgamma(alpha));
  if (x < alpha + 1) {
    double term = 1 / alpha;
    double sum = term;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= x / (alpha + k);
    return front * sum;
  }
  double fraction = 0;
  for (int k = 300; k > 0; --k) fraction = k * (k - alpha) / (x + 2 * k + 1 - alpha - fraction);
  return 1 - front / (x + 1 - alpha - fraction);
}

TEST(RandomDistributions, continuous_ones_have_their_distribution_function) {
  constexpr std::int64_t n = 50000;
  for (const Dtype dtype : {f32, f64}) {
    EXPECT_LT(distance(normal(key(1), {n}, dtype), phi), 1.95);
    EXPECT_LT(distance(exponential(key(2), {n}, dtype), [](double x) { return -std::expm1(-x); }),
              1.95);
    EXPECT_LT(
        distance(gumbel(key(3), {n}, dtype), [](double x) { return std::exp(-std::exp(-x)); }),
        1.95);
    EXPECT_LT(distance(laplace(key(4), {n}, dtype),
                       [](double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }),
              1.95);
    EXPECT_LT(distance(uniform(key(5), {n}, -2, 3, dtype), [](double x) { return (x + 2) / 5; }),
              1.95);
  }
}

TEST(RandomDistributions, sixteen_bits_are_thirty_two_rounded) {
  for (const Dtype dtype : {f16, bf16}) {
    const auto same = [&](auto draw) {
      EXPECT_TRUE(array_equal(draw(dtype), draw(f32).astype(dtype)));
    };
    same([](Dtype d) { return normal(key(1), {99}, d); });
    same([](Dtype d) { return exponential(key(1), {99}, d); });
    same([](Dtype d) { return gumbel(key(1), {99}, d); });
    same([](Dtype d) { return laplace(key(1), {99}, d); });
    same([](Dtype d) { return truncated_normal(key(1), {99}, -1, 1, d); });
  }
}

TEST(RandomDistributions, normal_numbers_have_their_moments_and_are_bounded) {
  const Tensor x = normal(key(7), {1000, 200}, f64);
  EXPECT_NEAR(mean(x).item(), 0, 4 / std::sqrt(2e5));
  EXPECT_NEAR(variance(x).item(), 1, 4 * std::sqrt(2 / 2e5));
  EXPECT_NEAR(mean(pow(x, 4)).item(), 3, 4 * std::sqrt(96 / 2e5));
  EXPECT_LT(max(abs(x)).item(), 8.3);
  // Rows of a matrix do not repeat each other.
  EXPECT_LT(max(abs(matmul(x, x.T())(0, Range{1, 1000}))).item(), 5 * std::sqrt(200));
}

TEST(RandomDistributions, truncated_numbers_stay_inside_also_in_a_tail) {
  struct Row {
    double low, high;
  };
  for (const Row& row : {Row{-1, 2},
                         {0.5, 0.6},
                         {-infinity, -3},
                         {4, infinity},
                         {-8, -7.5},
                         {25, 26},
                         {-0.1, infinity}}) {
    const Tensor x = truncated_normal(key(9), {20000}, row.low, row.high, f64);
    EXPECT_GE(min(x).item(), row.low);
    EXPECT_LE(max(x).item(), row.high);
    const bool upper = row.low > 0;
    const double from = upper ? phi(-row.high) : phi(row.low);
    const double to = upper ? phi(-row.low) : phi(row.high);
    EXPECT_LT(distance(x,
                       [&](double v) {
                         const double p = (phi(upper ? -v : v) - from) / (to - from);
                         return upper ? 1 - p : p;
                       }),
              1.95)
        << row.low << " " << row.high;
    const Tensor wide = truncated_normal(key(9), {1000}, row.low, row.high).astype(f64);
    EXPECT_TRUE(all_of((wide >= row.low) & (wide <= row.high)).item<bool>());
  }
  EXPECT_EQ(truncated_normal(key(1), {2, 2}, tensor({0.0, 5.0}), 9.0).shape(), (Shape{2, 2}));
}

TEST(RandomDistributions, gamma_beta_and_dirichlet_have_theirs) {
  for (double alpha : {0.05, 0.5, 1.0, 2.5, 40.0, 1e4}) {
    const Tensor x = gamma(key(11), full({20000}, alpha));
    EXPECT_LT(distance(x, [&](double v) { return gamma_distribution(alpha, v); }), 1.95) << alpha;
    EXPECT_NEAR(mean(x).item(), alpha, 5 * std::sqrt(alpha / 2e4)) << alpha;
  }
  // β(a, 1) has xᵃ.
  const Tensor b = beta(key(12), full({20000}, 0.7), 1.0);
  EXPECT_LT(distance(b, [](double v) { return std::pow(v, 0.7); }), 1.95);
  EXPECT_NEAR(mean(beta(key(13), full({20000}, 2.0), 6.0)).item(), 0.25, 0.004);
  const Tensor d = dirichlet(key(14), broadcast_to(tensor({1.0, 2.0, 5.0}), {20000, 3}));
  EXPECT_LT(max(abs(sum(d, 1) - 1)).item(), 1e-14);
  EXPECT_LT(max(abs(mean(d, 0) - tensor({0.125, 0.25, 0.625}))).item(), 0.005);
  // Shares of tiny concentrations are all but one nothing, and never NaN.
  EXPECT_TRUE(all_of(is_finite(dirichlet(key(15), full({1000, 4}, 1e-5)))).item<bool>());
  EXPECT_TRUE(std::isnan(gamma(key(1), Tensor(-1.0)).item()));
  EXPECT_EQ(gamma(key(1), Tensor(infinity)).item(), infinity);
  EXPECT_TRUE(array_equal(exp(log_gamma(key(3), full({9}, 0.3))), gamma(key(3), full({9}, 0.3))));
}

TEST(RandomDistributions, bernoulli_and_categorical_have_their_probabilities) {
  const Tensor p = tensor({0.0, 0.1, 0.5, 0.999, 1.0});
  const Tensor hits = sum(bernoulli(key(1), p, {100000, 5}).astype(f64), 0) / 100000;
  EXPECT_EQ(hits(0).item(), 0);
  EXPECT_EQ(hits(4).item(), 1);
  EXPECT_LT(max(abs(hits - p) / sqrt(p * (1 - p) / 1e5 + 1e-300)).item(), 4);
  EXPECT_EQ(bernoulli(key(1), 0.5, {3}).dtype(), bool_);

  const std::vector<double> weights{0.5, 0.25, 0.125, 0.1, 0.025};
  const Tensor logits = concat({log(tensor(weights)) + 7.0, full({1}, -infinity)});
  const Tensor drawn = categorical(key(2), broadcast_to(logits, {100000, 6}));
  std::vector<std::int64_t> counts = histogram(drawn, 6);
  EXPECT_EQ(counts.back(), 0);
  counts.pop_back();
  std::vector<double> expected;
  for (double w : weights) expected.push_back(w * 1e5);
  EXPECT_LT(chi_square(counts, expected), chi_square_limit(5));
  EXPECT_EQ(categorical(key(2), zeros({4, 3}), 0).shape(), (Shape{3}));
}

TEST(RandomDistributions, integers_of_every_dtype_are_uniform) {
  for (const Dtype dtype : {i8, i32, i64, u8, u32, u64}) {
    const std::int64_t low = dtype.is_unsigned_integer() ? 3 : -7;
    const Tensor x = random_integers(key(21), {60000}, low, low + 12, dtype);
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_LT(chi_square(histogram(x, 12, low), std::vector<double>(12, 5000)),
              chi_square_limit(12));
  }
}

TEST(RandomDistributions, wide_ranges_of_integers_have_no_bias) {
  // Of 3·2⁶² numbers, modulo 2⁶⁴ would give the lowest third twice as often.
  const std::int64_t low = INT64_MIN;
  const std::int64_t high = INT64_MIN / 2 + INT64_MAX;
  const Tensor x = random_integers(key(22), {60000}, low, high + 1);
  EXPECT_LE(max(x).item<std::int64_t>(), high);
  const Tensor third = (x.astype(f64) - static_cast<double>(low)) / 0x1p62;
  EXPECT_LT(chi_square(histogram(floor(third).astype(i64), 3), std::vector<double>(3, 20000)),
            chi_square_limit(3));
  EXPECT_EQ(random_integers(key(1), {3}, 5, 6).to_vector<int>(), (std::vector{5, 5, 5}));
  EXPECT_NO_THROW(random_integers(key(1), {3}, INT64_MIN, INT64_MAX));
  EXPECT_NO_THROW(random_integers(key(1), {3}, -128, 128, i8));
  EXPECT_THROW(random_integers(key(1), {3}, 0, 129, i8), Error);
  EXPECT_THROW(random_integers(key(1), {3}, -1, 2, u8), Error);
  EXPECT_THROW(random_integers(key(1), {3}, 2, 2), Error);
  EXPECT_THROW(random_integers(key(1), {3}, 0, 2, f32), Error);
}

TEST(RandomDistributions, permutations_are_permutations_and_all_equally_often) {
  const Tensor p = permutation(key(31), 1000);
  EXPECT_TRUE(array_equal(sort(p), arange(1000)));
  std::vector<std::int64_t> counts(24);
  const Tensor keys = random_bits(key(32), {24000, 2}, u32);
  const Tensor all_of_four = vmap([](Key k) { return permutation(k, 4); })(Key{keys});
  for (std::int64_t code :
       sum(all_of_four * tensor<std::int64_t>({64, 16, 4, 1}), 1).to_vector<std::int64_t>()) {
    static std::map<std::int64_t, std::size_t> seen;
    const std::size_t place = seen.emplace(code, seen.size()).first->second;
    ++counts.at(place);
  }
  EXPECT_LT(chi_square(counts, std::vector<double>(24, 1000)), chi_square_limit(24));
  EXPECT_EQ(permutation(key(1), 0).size(), 0);

  const Tensor x = reshape(arange(12), {3, 4});
  const Tensor rows = shuffle(key(33), x);
  EXPECT_TRUE(array_equal(rows, take(x, permutation(key(33), 3))));
  EXPECT_TRUE(array_equal(sort(shuffle(key(33), x, 1), 1), x));
  const auto pick = [&](Tensor t) { return sum(shuffle(key(34), t) * tensor({1.0, 2.0, 4.0})); };
  EXPECT_EQ(sum(grad(pick)(zeros({3}))).item(), 7);
}

TEST(RandomDistributions, keys_folded_with_numbers_differ) {
  std::set<std::vector<std::uint32_t>> seen{key(1).words.to_vector<std::uint32_t>()};
  for (const Key& child : split(key(1), 50))
    EXPECT_TRUE(seen.insert(child.words.to_vector<std::uint32_t>()).second);
  for (std::int64_t i = -50; i < 50; ++i)
    EXPECT_TRUE(seen.insert(fold_in(key(1), i).words.to_vector<std::uint32_t>()).second) << i;
  const Tensor many = fold_in(key(1), arange(5)).words;
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_TRUE(array_equal(many(i), fold_in(key(1), i).words));
  EXPECT_THROW(fold_in(key(1), 0.5), Error);
}

TEST(RandomDistributions, an_element_depends_on_key_and_position_alone) {
  const auto starts_alike = [](auto draw) {
    const Tensor few = draw(7);
    const Tensor many = draw(1000);
    EXPECT_TRUE(array_equal(few, many(Range{0, 7})));
  };
  starts_alike([](std::int64_t n) { return normal(key(1), {n}); });
  starts_alike([](std::int64_t n) { return truncated_normal(key(1), {n}, -1, 1); });
  starts_alike([](std::int64_t n) { return gamma(key(1), 0.4, {n}); });
  starts_alike([](std::int64_t n) { return bernoulli(key(1), 0.4, {n}); });
  starts_alike([](std::int64_t n) { return random_integers(key(1), {n}, 0, 10); });
  starts_alike([](std::int64_t n) { return random_integers(key(1), {n}, 0, INT64_MAX / 3 * 2); });
}

TEST(RandomDistributions, maps_over_keys_equal_the_loop) {
  const Tensor words = random_bits(key(41), {5, 2}, u32);
  const auto each = [&](auto f) {
    std::vector<Tensor> results;
    for (std::int64_t i = 0; i < 5; ++i) results.push_back(f(Key{words(i)}));
    EXPECT_TRUE(array_equal(vmap(f)(Key{words}), stack(results)));
  };
  each([](Key k) { return normal(k, {3}); });
  each([](Key k) { return truncated_normal(k, {3}, 0, 1); });
  each([](Key k) { return gamma(k, tensor({0.3, 5.0})); });
  each([](Key k) { return beta(k, 0.3, tensor({0.3, 5.0})); });
  each([](Key k) { return categorical(k, zeros({4, 3})); });
  each([](Key k) { return permutation(k, 6); });
  each([](Key k) { return random_integers(k, {4}, 0, INT64_MAX / 3 * 2); });
  each([](Key k) { return fold_in(k, 3).words; });
  each([](Key k) { return shuffle(k, arange(6)); });
  each([](Key k) { return split(k, 3)[2].words; });
}

TEST(RandomDistributions, programs_draw_the_same_numbers) {
  const auto f = [](Key k) {
    return std::tuple{gamma(k, 0.4, {3}), random_integers(k, {3}, 0, INT64_MAX / 3 * 2),
                      categorical(k, zeros({3, 2})), laplace(k, {2})};
  };
  const std::vector<Tensor> results = evaluate(program(f, key(5)), {key(5).words});
  const auto [a, b, c, d] = f(key(5));
  const Tensor want[] = {a, b, c, d};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(array_equal(results[i], want[i])) << i;
}

TEST(RandomDistributions, derivatives_go_through_location_scale_and_bounds) {
  const auto f = [](Tensor m, Tensor s) { return sum(m + s * normal(key(1), {5}, f64)); };
  EXPECT_EQ(grad(f)(0.3, 2.0).item(), 5);
  EXPECT_NEAR(grad(f, wrt<1>)(0.3, 2.0).item(), sum(normal(key(1), {5}, f64)).item(), 1e-14);
  const auto bound = [](Tensor low) { return sum(truncated_normal(key(2), {6}, low, 2.0, f64)); };
  const double h = 1e-6;
  for (double low : {-0.5, 1.0}) {
    const double difference =
        (bound(Tensor(low + h)).item() - bound(Tensor(low - h)).item()) / (2 * h);
    EXPECT_NEAR(grad(bound)(low).item(), difference, 1e-8) << low;
  }
}

/// How a number that keeps its rank moves: by differences of the distribution function.
double slope_by_differences(double alpha, double x) {
  const double h = 1e-5 * alpha;
  const double in_alpha =
      (gamma_distribution(alpha + h, x) - gamma_distribution(alpha - h, x)) / (2 * h);
  const double density = std::exp((alpha - 1) * std::log(x) - x - std::lgamma(alpha));
  return -in_alpha / density;
}

TEST(RandomDistributions, gamma_numbers_move_with_their_parameter) {
  for (double alpha : {0.2, 0.9, 1.0, 3.0, 30.0}) {
    const Tensor parameters = full({50}, alpha);
    const auto draw = [](Tensor a) { return gamma(key(51), a); };
    const std::vector<double> x = draw(parameters).to_vector();
    const std::vector<double> slope =
        grad([&](Tensor a) { return sum(draw(a)); })(parameters).to_vector();
    const std::vector<double> forward = jvp(draw)(parameters, ones({50})).second.to_vector();
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(slope[i], slope_by_differences(alpha, x[i]), 1e-5 * (1 + slope[i]))
          << alpha << " " << x[i];
      EXPECT_DOUBLE_EQ(slope[i], forward[i]);
    }
  }
}

TEST(RandomDistributions, expectations_of_gamma_have_their_gradients) {
  // E x = α and E x² = α(α + 1): gradients 1 and 2α + 1; the second derivative of E x² is 2.
  const Tensor a = full({}, 2.5);
  const auto first = [](Tensor t) { return mean(gamma(key(61), t, {20000})); };
  const auto second = [](Tensor t) { return mean(square(gamma(key(62), t, {20000}))); };
  EXPECT_NEAR(grad(first)(a).item(), 1, 0.02);
  EXPECT_NEAR(grad(second)(a).item(), 6, 0.2);
  EXPECT_NEAR(grad(grad(second))(a).item(), 2, 0.1);
  // E of the first share is a/(a + b), with gradient b/(a + b)².
  const auto share = [](Tensor t) { return mean(beta(key(63), broadcast_to(t, {20000}), 3.0)); };
  EXPECT_NEAR(grad(share)(Tensor(2.0)).item(), 3.0 / 25, 0.003);
}

TEST(RandomDistributions, second_derivatives_of_gamma_agree_in_both_modes) {
  const auto f = [](Tensor a) { return sum(sin(gamma(key(71), a))); };
  const Tensor a = tensor({0.7, 2.0, 9.0});
  const auto report =
      check_derivatives(grad([](Tensor t) { return sum(log_gamma_slope(1, t, sin(t))); }), a);
  EXPECT_TRUE(report.ok()) << report;
  const Tensor reverse = jacobian(grad(f), Mode::reverse)(a);
  const Tensor forward = jacobian(grad(f), Mode::forward)(a);
  EXPECT_LT(max(abs(reverse - forward)).item(), 1e-12);
  EXPECT_GT(abs(reverse(1, 1)).item(), 1e-3);
}

}  // namespace
}  // namespace hom
