// tests/cases/reports_losses_test.cc -- softmax, losses, attention, normalisation, and sums of many
// terms
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row. Numbers
// without a closed form are from oracle.py.
#include <cmath>
#include <limits>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::array<Dtype, 4> float_dtypes{f64, f32, f16, bf16};
const double log_2 = std::log(2.0);

/// Σ wᵢ·g(x)ᵢ, to have a gradient of a function with many results.
template <class G>
auto weighted(const G& g, const Tensor& weights) {
  return [=](Tensor x) { return sum(weights.astype(x.dtype()) * g(x)); };
}

// Row 36.

TEST(Reports, log_softmax_of_one_large_logit_is_zero) {
  const auto f = [](Tensor x) { return log_softmax(x); };
  for (const Dtype dtype : float_dtypes) {
    for (const double logit : {88.72284, -88.72284, 60000.0}) {
      const Tensor x = vector_of({logit}, dtype);
      EXPECT_TRUE(near(f(x), 0));
      EXPECT_TRUE(near(softmax(x), 1));
      EXPECT_TRUE(near(jacobian_in_both_modes(f, x), 0));
    }
  }
  // exp of either is infinite in f32, and the largest f64 is far above.
  EXPECT_TRUE(near(log_softmax(tensor({{88.72284f, 88.72284f}, {3e38f, 0.0f}})),
                   {-log_2, -log_2, 0, -3e38}));
  EXPECT_TRUE(near(logsumexp(tensor({710.0, 710.0})), 710 + log_2));
  EXPECT_TRUE(near(logsumexp(tensor({-1e5, -1e5, -1e5})), -1e5 + std::log(3.0)));
}

TEST(Reports, softmax_and_its_logarithm_of_ordinary_logits) {
  const Tensor weights = tensor({0.2, 0.5, 0.3});
  const auto of_softmax = weighted([](Tensor x) { return softmax(x); }, weights);
  const auto of_columns = [&](Tensor x) {
    return sum(expand_dims(weights, 1).astype(x.dtype()) * softmax(x, 0));
  };
  for (const Dtype dtype : float_dtypes) {
    // A common shift changes nothing: 1000 + x would overflow without one.
    for (const double shift : {0.0, 1000.0}) {
      if (shift != 0 && dtype != f64) continue;  // other dtypes would round the sum
      const Tensor x = vector_of({0.3 + shift, -0.7 + shift, 1.1 + shift}, dtype);
      const double tolerance = shift != 0 ? 1e-11 : 0;
      EXPECT_TRUE(near(softmax(x), {0.2782863948905397, 0.10237584343794708, 0.6193377616715132},
                       tolerance));
      EXPECT_TRUE(near(log_softmax(x),
                       {-1.279104498132736, -2.2791044981327357, -0.47910449813273587}, tolerance));
      const std::vector<double> slope{-0.025782268609781535, 0.02122798646308567,
                                      0.004554282146695908};
      EXPECT_TRUE(near(gradient(of_softmax, x), slope, tolerance));
      EXPECT_TRUE(near(gradient(of_columns, expand_dims(x, 1)), slope, tolerance));
    }
  }
}

// Row 38.

TEST(Reports, cross_entropy_of_huge_equal_logits_is_log_2) {
  const auto f = [](Tensor logits) { return cross_entropy(logits, tensor({1})); };
  for (const Dtype dtype : {f64, f32}) {
    const Tensor logits = tensor({{1e8, 1e8}}).astype(dtype);
    EXPECT_TRUE(near(f(logits), {0.693147}, 1e-6));
    EXPECT_TRUE(near(gradient(f, logits), {0.5, -0.5}));
    EXPECT_TRUE(near(second_derivative(f, logits), {0.25, -0.25, -0.25, 0.25}));
  }
  for (const double logit : {1e8, -1e8, 1e300}) {
    const Tensor logits = tensor({logit, logit});
    const auto with_probabilities = [](Tensor x) { return cross_entropy(x, tensor({0.0, 1.0})); };
    EXPECT_TRUE(near(with_probabilities(logits), log_2));
    EXPECT_TRUE(near(gradient(with_probabilities, logits), {0.5, -0.5}));
    EXPECT_TRUE(near(cross_entropy(logits, Tensor(std::int64_t{1})), log_2));
  }
  // A hopeless prediction costs its margin, not infinity.
  EXPECT_TRUE(near(f(tensor({{1e8, 0.0}})), 1e8));
  EXPECT_TRUE(near(gradient(f, tensor({{1e8, 0.0}})), {1, -1}));
}

TEST(Reports, cross_entropy_of_a_batch) {
  const auto f = [](Tensor logits) { return cross_entropy(logits, tensor({2, 0})); };
  const Tensor logits = tensor({{1.0, -2.0, 0.5}, {0.0, 3.0, -1.0}});
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(f(logits.astype(dtype)), 2.0352404030498565));
    EXPECT_TRUE(near(gradient(f, logits.astype(dtype)),
                     {0.3018744480743129, 0.015029443784787011, -0.3169038918590999,
                      -0.47669368871101303, 0.4681197759382529, 0.008573912772760196}));
  }
  EXPECT_THROW(f(tensor({{1.0, 2.0}, {3.0, 4.0}})), Error) << "label 2 of two classes";
}

// Row 40.

TEST(Reports, log_sigmoid_far_from_zero) {
  const auto f = [](Tensor x) { return log_sigmoid(x); };
  for (const Dtype dtype : float_dtypes) {
    EXPECT_TRUE(near(f(tensor(-300.0, dtype)), -300));
    EXPECT_TRUE(near(gradient(f, tensor(-300.0, dtype)), 1));
    EXPECT_TRUE(near(f(tensor(300.0, dtype)), 0));
    EXPECT_TRUE(near(gradient(f, tensor(300.0, dtype)), 0));
    EXPECT_TRUE(near(f(zeros({}, dtype)), -log_2));
    EXPECT_TRUE(near(gradient(f, zeros({}, dtype)), 0.5));
    EXPECT_TRUE(near(second_derivative(f, zeros({}, dtype)), -0.25));
    EXPECT_TRUE(near(second_derivative(f, tensor(-300.0, dtype)), 0));
  }
  EXPECT_TRUE(near(f(-1e6), -1e6));
}

// Row 41.

TEST(Reports, softplus_is_linear_far_to_the_right) {
  for (const double beta : {1.0, 5.0}) {
    const auto f = [beta](Tensor x) { return softplus(x, beta); };
    const auto total = [&](Tensor x) { return sum(f(x)); };
    for (const Dtype dtype : float_dtypes) {
      const Tensor x = vector_of({20, 50, 100}, dtype);
      EXPECT_TRUE(near(f(x), {20, 50, 100}, std::max(1e-8, tolerance_of(dtype))));
      EXPECT_TRUE(near(gradient(total, x), {1, 1, 1}, std::max(1e-8, tolerance_of(dtype))));
      EXPECT_TRUE(near(f(-x), {0, 0, 0}, std::max(1e-8, tolerance_of(dtype))));
      EXPECT_TRUE(near(gradient(total, -x), {0, 0, 0}, std::max(1e-8, tolerance_of(dtype))));
      EXPECT_TRUE(near(gradient(f, zeros({}, dtype)), 0.5));
      EXPECT_TRUE(near(second_derivative(f, zeros({}, dtype)), 0.25 * beta));
      EXPECT_TRUE(near(second_derivative(f, tensor(10000.0, dtype)), 0));
    }
    EXPECT_TRUE(near(f(nan), nan));
    for (const double x : {-3.0, 0.7, 20.0}) {
      EXPECT_TRUE(near(f(x), std::log1p(std::exp(beta * x)) / beta));
      EXPECT_TRUE(near(gradient(f, x), 1 / (1 + std::exp(-beta * x))));
    }
  }
}

TEST(Reports, logaddexp_is_smooth_at_ties) {
  const auto f = [](Tensor x) { return logaddexp(x[0], x[1]); };
  for (const double tie : {0.0, -300.0, 700.0}) {
    EXPECT_TRUE(near(f(tensor({tie, tie})), tie + log_2));
    EXPECT_TRUE(near(gradient(f, tensor({tie, tie})), {0.5, 0.5}));
    EXPECT_TRUE(near(second_derivative(f, tensor({tie, tie})), {0.25, -0.25, -0.25, 0.25}));
  }
  const auto running = [](Tensor x) { return logcumsumexp(x, 0)[-1]; };
  EXPECT_TRUE(near(gradient(running, tensor({2.0, 2.0, 2.0, 2.0})), {0.25, 0.25, 0.25, 0.25}));
  EXPECT_TRUE(near(second_derivative(running, tensor({2.0, 2.0})), {0.25, -0.25, -0.25, 0.25}));
}

// Row 43.

const Tensor q = tensor({{1.0, 0.5}, {-0.3, 2.0}, {0.7, -1.1}});
const Tensor k = tensor({{0.2, -0.4}, {1.5, 0.1}, {-0.6, 0.8}});
const Tensor v = tensor({{1.0, 2.0}, {-1.0, 0.5}, {3.0, -2.0}});
const Tensor mask = tensor({{true, true, false}, {false, false, false}, {true, true, true}});
const Tensor attention_ct = tensor({{1.0, -2.0}, {5.0, 7.0}, {0.5, 3.0}});

TEST(Reports, a_fully_masked_row_of_attention_is_zero_and_has_no_gradient) {
  const auto f = [](Tensor a, Tensor b, Tensor c) { return attention(a, b, c, mask); };
  const auto total = [&](Tensor a, Tensor b, Tensor c) {
    return sum(attention_ct.astype(a.dtype()) * f(a, b, c));
  };
  for (const Dtype dtype : float_dtypes) {
    const double tolerance = 4 * tolerance_of(dtype);
    const Tensor a = q.astype(dtype);
    const Tensor b = k.astype(dtype);
    const Tensor c = v.astype(dtype);
    EXPECT_TRUE(near(
        f(a, b, c),
        {-0.4990255762712215, 0.8757308177965838, 0, 0, 0.1973144084287895, 0.8281939590168108},
        tolerance));
    if (dtype == f16 || dtype == bf16) continue;  // the two modes round differently
    const auto [dq, dk, dv] = gradients(total, a, b, c);
    EXPECT_TRUE(near(dq, {0.172580991738108, 0.06637730451465708, 0, 0, -0.3197715141665788,
                          -0.905306756925402}));
    EXPECT_TRUE(near(dk, {0.6261683372063819, -1.2589705057421796, -0.26294939902076325,
                          0.6881978885933497, -0.363218938185619, 0.5707726171488299}));
    EXPECT_TRUE(near(dv, {0.44621729627980816, 0.6734060827637353, 1.0019834448743026,
                          0.015798364160929612, 0.051799258845889214, 0.3107955530753353}));
  }
}

TEST(Reports, a_fully_masked_row_of_attention_computes_no_nan) {
  WatchingExecutor executor;
  const ExecutorScope scope(executor);
  const auto total = [](Tensor a, Tensor b, Tensor c) { return sum(attention(a, b, c, mask)); };
  static_cast<void>(grad(total, wrt<0, 1, 2>)(q, k, v));
  EXPECT_FALSE(executor.saw_nan);
}

TEST(Reports, attention_masks_broadcast_over_a_batch) {
  const auto both = [](Tensor x) { return stack({x, x}); };
  const Tensor out = attention(both(q), both(k), both(v), mask);
  EXPECT_TRUE(agree(out[0], attention(q, k, v, mask)));
  EXPECT_TRUE(agree(out[1], attention(q, k, v, mask)));
  // A strictly lower triangle: the first query sees nothing, the second one key.
  const Tensor strictly_before = iota(i64[{3, 3}], 1) < iota(i64[{3, 3}], 0);
  const Tensor causal = attention(q, k, v, strictly_before);
  EXPECT_TRUE(near(causal[0], {0, 0}));
  EXPECT_TRUE(near(causal[1], {1, 2}));
  EXPECT_TRUE(agree(attention(q, k, v, true), attention(q, k, v)));
  EXPECT_TRUE(near(attention(q, k, v, false), std::vector<double>(6, 0)));
}

// Row 45.

TEST(Reports, softmax_and_logsumexp_of_nothing) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor nothing = zeros({0}, dtype);
    EXPECT_EQ(softmax(nothing).type(), dtype[{0}]);
    EXPECT_EQ(log_softmax(nothing).type(), dtype[{0}]);
    EXPECT_TRUE(near(logsumexp(nothing), -infinity));
    EXPECT_EQ(gradient([](Tensor x) { return logsumexp(x); }, nothing).type(), dtype[{0}]);
    EXPECT_EQ(gradient([](Tensor x) { return sum(softmax(x)); }, nothing).type(), dtype[{0}]);
  }
  EXPECT_TRUE(near(logsumexp(zeros({2, 0}), 1), {-infinity, -infinity}));
  EXPECT_EQ(logsumexp(zeros({0, 2}), 1).type(), f64[{0}]);
  EXPECT_EQ(softmax(zeros({2, 0})).type(), (f64[{2, 0}]));
}

TEST(Reports, logsumexp_of_minus_infinities_is_minus_infinity_without_nan_gradient) {
  const auto f = [](Tensor x) { return logsumexp(x); };
  EXPECT_TRUE(near(f(tensor({-infinity, -infinity})), -infinity));
  EXPECT_TRUE(near(gradient(f, tensor({-infinity, 1.0, -infinity})), {0, 1, 0}));
  EXPECT_TRUE(near(f(tensor({infinity, 1.0})), infinity));
  EXPECT_TRUE(near(logaddexp(-infinity, -infinity), -infinity));
  EXPECT_TRUE(near(logaddexp(infinity, infinity), infinity));
  EXPECT_TRUE(near(logaddexp(-infinity, 2.5), 2.5));
}

// Row 46.

TEST(Reports, softmax_of_a_nan_is_nan_throughout_its_row) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = vector_of({nan, infinity, -infinity}, dtype);
    EXPECT_TRUE(near(log_softmax(x), {nan, nan, nan}));
    EXPECT_TRUE(near(softmax(x), {nan, nan, nan}));
    EXPECT_TRUE(near(log_softmax(vector_of({0, nan, 1}, dtype)), {nan, nan, nan}));
  }
  // Other rows are not touched.
  EXPECT_TRUE(near(softmax(tensor({{nan, 1.0}, {2.0, 2.0}})), {nan, nan, 0.5, 0.5}));
}

// Row 48.

const std::vector<double> evenly_spaced{-1.3416354199689269, -0.447211806656309, 0.447211806656309,
                                        1.3416354199689269};

TEST(Reports, layer_norm_of_large_numbers_with_small_differences) {
  const auto f = [](Tensor x) { return layer_norm(x); };
  for (const Dtype dtype : {f64, f32}) {
    const Tensor x = vector_of({40000, 40001, 40002, 40003}, dtype);
    EXPECT_TRUE(near(f(x), {-1.34164, -0.44721, 0.44721, 1.34164}, 1e-5));
    EXPECT_TRUE(near(f(x), evenly_spaced, dtype == f64 ? 1e-9 : 2e-6));
    EXPECT_TRUE(near(layer_norm(expand_dims(x, 1), 0), evenly_spaced, dtype == f64 ? 1e-9 : 2e-6));
  }
}

TEST(Reports, layer_norm_in_16_bits_sums_in_32) {
  // Neighbouring numbers of the dtype, whose sum is beyond the largest f16.
  EXPECT_TRUE(near(layer_norm(vector_of({40000, 40032, 40064, 40096}, f16)), evenly_spaced));
  EXPECT_TRUE(near(layer_norm(vector_of({40192, 40448, 40704, 40960}, bf16)), evenly_spaced));
  EXPECT_TRUE(near(mean(full({1000}, 100, f16)), 100));
}

TEST(Reports, pullback_of_layer_norm) {
  const Tensor x = tensor({{40000.0, 40001.0, 40002.0, 40003.0}, {1.0, 2.0, -3.0, 0.5}});
  const Tensor ct = tensor({{1.0, 2.0, 0.0, -1.0}, {0.5, -1.0, 2.0, 3.0}});
  const Tensor dx = gradient([&](Tensor y) { return sum(ct * layer_norm(y)); }, x);
  EXPECT_TRUE(
      near(dx,
           {-0.6260879429208358, 0.9838688367765454, -0.0894452234639274, -0.26833567039178224,
            -0.11695609064992263, -0.6678171162797935, -0.30291254157475145, 1.0876857485044675},
           1e-9));
  // Equal elements: the ε keeps everything finite.
  EXPECT_TRUE(near(layer_norm(tensor({7.0, 7.0})), {0, 0}));
  EXPECT_TRUE(near(gradient([](Tensor y) { return layer_norm(y)[0]; }, tensor({7.0, 7.0})),
                   {0.5 / std::sqrt(1e-5), -0.5 / std::sqrt(1e-5)}, 1e-9));
}

// Row 50.

TEST(Reports, batch_norm_of_huge_inputs_is_finite) {
  const Tensor x = tensor({{1e30, 1.0}, {3e30, 3.0}});
  const std::vector<double> exact{-1, -1 / std::sqrt(1 + 1e-5), 1, 1 / std::sqrt(1 + 1e-5)};
  EXPECT_TRUE(near(batch_norm(x), exact));
  // In f32 the variance of the first feature overflows; batch_norm says that it is 0 then.
  const Tensor single = x.astype(f32);
  EXPECT_TRUE(near(batch_norm(single), {0, exact[1], 0, exact[3]}));
  const auto f = [](Tensor y) { return sum(tensor({{1.0f, 2.0f}, {3.0f, 5.0f}}) * batch_norm(y)); };
  for (const double slope : gradient(f, single).to_vector()) EXPECT_TRUE(std::isfinite(slope));
}

// Row 51.

TEST(Reports, second_derivative_of_a_layer_norm) {
  // With ε = ¼ the function is −t/√(t² + 1).
  const auto f = [](Tensor t) {
    return sum(layer_norm(stack({t, 0.0}), -1, 0.25) * tensor({1.0, 2.0}));
  };
  const double t = 0.7;
  EXPECT_TRUE(near(f(t), -t / std::sqrt(t * t + 1)));
  EXPECT_TRUE(near(gradient(f, t), -std::pow(t * t + 1, -1.5)));
  const auto along = [](auto g) { return [g](Tensor x) { return jvp(g)(x, 1.0).second; }; };
  EXPECT_TRUE(near(along(along(f))(t), {0.774914}, 1e-6));
  EXPECT_TRUE(near(second_derivative(f, t), 3 * t * std::pow(t * t + 1, -2.5)));
  EXPECT_TRUE(near(along(along(along(f)))(t), (3 - 12 * t * t) * std::pow(t * t + 1, -3.5)));
}

// Row 53.

TEST(Reports, derivative_of_a_running_logsumexp_far_from_zero) {
  const auto f_along = [](std::int64_t axis) {
    return [axis](Tensor t) {
      const Tensor x = stack({stack({t, 1 - t, 2 * t + 3}), stack({-t, t + 2, 3 * t - 1})});
      return sum(tensor({{1.0, 2.0, -1.0}, {3.0, -2.0, 4.0}}) * logcumsumexp(x, axis));
    };
  };
  EXPECT_TRUE(near(jvp(f_along(1))(-400.0, 1.0).second, -5));
  EXPECT_TRUE(near(gradient(f_along(1), -400.0), -5));
  // At −400 each running sum has one term that matters, so the slopes are those of the terms.
  EXPECT_TRUE(near(gradient(f_along(0), -400.0), 4));
  EXPECT_TRUE(near(gradient(f_along(1), 400.0), (1 + 2 - 2) + (-3 - 2 + 4 * 3)));
  EXPECT_TRUE(near(logcumsumexp(tensor({0.0, 0.0, 0.0}), 0), {0, log_2, std::log(3.0)}));
  EXPECT_TRUE(near(logcumsumexp(tensor({-infinity, 1.0, infinity}), 0), {-infinity, 1, infinity}));
}

// Row 55.

TEST(Reports, a_cumulative_sum_of_2_to_25_ones_in_f32_arrives) {
  const std::int64_t n = std::int64_t{1} << 25;
  const Tensor last = cumsum(ones({n}, f32))[-1];
  EXPECT_EQ(last.item(), 33554432);
  EXPECT_EQ(sum(ones({n}, f32)).item(), 33554432);
  EXPECT_EQ(mean(ones({n}, f32)).item(), 1);
}

TEST(Reports, a_million_tenths_in_f32_sum_to_1e_minus_6) {
  const double tenth = 0.1f;
  EXPECT_TRUE(near(sum(full({1000000}, 0.1f)), {1e6 * tenth}, 1e-6));
  EXPECT_TRUE(near(cumsum(full({1000000}, 0.1f))[-1], {1e6 * tenth}, 1e-6));
  EXPECT_TRUE(
      near(sum(full({1000, 1000}, 0.1f), 0), std::vector<double>(1000, 1000 * tenth), 1e-6));
  EXPECT_TRUE(near(cumsum(full({1000000, 1}, 0.1f), 0, true)(0, 0), {1e6 * tenth}, 1e-6));
}

// Row 56.

TEST(Reports, a_thousand_ones_in_16_bits_sum_to_a_thousand) {
  for (const Dtype dtype : {bf16, f16}) {
    const Tensor many = ones({1000}, dtype);
    EXPECT_EQ(sum(many).item(), 1000);
    EXPECT_EQ(cumsum(many)[-1].item(), 1000);
    EXPECT_EQ(dot(many, many).item(), 1000);
    EXPECT_EQ(mean(many).item(), 1);
    EXPECT_EQ(array_equal(sum(ones({1000, 3}, dtype), 0), full({3}, 1000, dtype)), true);
    // The gradient of a broadcast is such a sum.
    EXPECT_EQ(grad([](Tensor x) { return sum(broadcast_to(x, {1000})); })(ones({}, dtype)).item(),
              1000);
  }
}

}  // namespace
}  // namespace hom::cases
