// tests/unit/special_functions_test.cc -- special functions against mpmath's numbers, at their
// special values, and their derivatives
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "special_values.h"
#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Function {
  std::function<Tensor(std::int64_t n, const Tensor& x)> of;
  /// Units in the last place.
  double tolerance;
};

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all = {
      {"lgamma", {[](std::int64_t, const Tensor& x) { return lgamma(x); }, 5}},
      {"digamma", {[](std::int64_t, const Tensor& x) { return digamma(x); }, 4}},
      {"polygamma", {[](std::int64_t n, const Tensor& x) { return polygamma(n, x); }, 6}},
      {"erfc", {[](std::int64_t, const Tensor& x) { return erfc(x); }, 5}},
      {"erfcx", {[](std::int64_t, const Tensor& x) { return erfcx(x); }, 6}},
      {"erf_inv", {[](std::int64_t, const Tensor& x) { return erf_inv(x); }, 3}},
      {"erfc_inv", {[](std::int64_t, const Tensor& x) { return erfc_inv(x); }, 3}},
      {"ndtr", {[](std::int64_t, const Tensor& x) { return ndtr(x); }, 3}},
      {"log_ndtr", {[](std::int64_t, const Tensor& x) { return log_ndtr(x); }, 6}},
      {"ndtri", {[](std::int64_t, const Tensor& x) { return ndtri(x); }, 5}},
  };
  return all;
}

TEST(SpecialFunctions, f64_is_exact_to_a_few_units_in_the_last_place) {
  std::map<std::string, double> worst;
  for (const SpecialValue& row : special_values) {
    const Function& function = functions().at(row.function);
    const double got = function.of(row.n, Tensor(row.x)).item();
    // On the negative axis terms of the size of ψ(1 − x) and π/tan πx cancel.
    const std::string name = row.function;
    const double size = std::abs(row.y) + (name == "digamma" && row.x < 0 ? 4 : 0);
    const double unit = std::nextafter(size, infinity) - size;
    const double error = std::abs(got - row.y) / unit;
    worst[row.function] = std::max(worst[row.function], error);
    // The argument of Φ is rounded, which tails multiply by its square.
    const double tail = name.find("ndtr") != std::string::npos ? row.x * row.x : 0;
    const double tolerance = (row.n > 30 ? 1000 : function.tolerance) + tail;
    EXPECT_LE(error, tolerance) << row.function << " " << row.n << " at "
                                << ::testing::PrintToString(row.x) << ": "
                                << ::testing::PrintToString(got) << " is not "
                                << ::testing::PrintToString(row.y);
  }
  for (const auto& [name, error] : worst) RecordProperty(name, std::to_string(error));
}

TEST(SpecialFunctions, narrow_dtypes_are_f64_rounded) {
  for (const Dtype dtype : {f32, f16, bf16}) {
    for (const SpecialValue& row : special_values) {
      const std::string name = row.function;
      // The last three are compositions, each step of which rounds.
      if (name == "ndtr" || name == "log_ndtr" || name == "ndtri") continue;
      // Computed in f32: vector_math_test.
      if (name == "erfc") continue;
      const Tensor x = Tensor(row.x).astype(dtype);
      const Function& function = functions().at(name);
      EXPECT_TRUE(
          array_equal(function.of(row.n, x), function.of(row.n, x.astype(f64)).astype(dtype), true))
          << name << " at " << x;
    }
  }
}

struct Special {
  Tensor got;
  std::vector<double> want;
};

TEST(SpecialFunctions, poles_infinities_and_nan) {
  const Tensor ends = tensor({0.0, -0.0, -1.0, -2.0, infinity, -infinity, nan});
  const Special rows[] = {
      {lgamma(ends), {infinity, infinity, infinity, infinity, infinity, infinity, nan}},
      {digamma(ends), {-infinity, infinity, nan, nan, infinity, nan, nan}},
      {polygamma(1, ends), {infinity, infinity, infinity, infinity, 0, nan, nan}},
      {polygamma(2, ends), {-infinity, infinity, nan, nan, 0, nan, nan}},
      {erfc(ends)(Range{4, 7}), {0, 2, nan}},
      {erfcx(ends)(Range{4, 7}), {0, infinity, nan}},
      {erf_inv(tensor({0.0, 1.0, -1.0, 1.1, -infinity, nan})),
       {0, infinity, -infinity, nan, nan, nan}},
      {erfc_inv(tensor({1.0, 0.0, 2.0, -0.1, 2.1, nan})), {0, infinity, -infinity, nan, nan, nan}},
      {ndtr(ends)(Range{4, 7}), {1, 0, nan}},
      {log_ndtr(ends)(Range{4, 7}), {0, -infinity, nan}},
      {ndtri(tensor({0.0, 0.5, 1.0, 1.5, nan})), {-infinity, 0, infinity, nan, nan}},
      {lgamma(tensor({1.0, 2.0})), {0, 0}},
      {polygamma(0, tensor({0.7})), {digamma(Tensor(0.7)).item()}},
  };
  for (const Special& row : rows) {
    const std::vector<double> got = row.got.to_vector();
    ASSERT_EQ(got.size(), row.want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool same = std::isnan(row.want[i]) ? std::isnan(got[i]) : got[i] == row.want[i];
      EXPECT_TRUE(same) << row.got << " element " << i << ", not " << row.want[i];
    }
  }
}

TEST(SpecialFunctions, identities_hold) {
  const Tensor x = linspace(0.05, 12.0, 400);
  const auto close = [](const Tensor& a, const Tensor& b, double tolerance) {
    const Tensor error = abs(a - b) / (1.0 + abs(b));
    EXPECT_LE(max(error).item(), tolerance);
  };
  close(lgamma(x + 1), lgamma(x) + log(x), 1e-14);
  close(digamma(x + 1), digamma(x) + 1 / x, 1e-14);
  const double pi = std::acos(-1.0);
  const Tensor inside = linspace(0.01, 0.99, 99);
  close(digamma(1 - inside) - digamma(inside), pi / tan(pi * inside), 1e-14);
  close(digamma(-inside) - digamma(1 + inside), pi / tan(pi * inside), 1e-14);
  close(polygamma(3, x + 1) + 6 / (x * x * x * x), polygamma(3, x), 1e-14);
  close(polygamma(4, -inside), polygamma(4, 1 - inside) + 24 / pow(inside, 5), 1e-12);
  const Tensor p = linspace(-0.999, 0.999, 401);
  close(erf(erf_inv(p)), p, 1e-15);
  close(erfc(erfc_inv(p + 1)), p + 1, 1e-15);
  close(ndtr(ndtri(linspace(0.001, 0.999, 99))), linspace(0.001, 0.999, 99), 1e-15);
  close(erfcx(x), exp(x * x) * erfc(x), 1e-12);
}

TEST(SpecialFunctions, derivatives_of_every_order) {
  // (log Γ)′, ″, ‴ at 1: −γ, π²/6, −2ζ(3).
  const double want[] = {-0.57721566490153286, 1.6449340668482264, -2.4041138063191886};
  EXPECT_DOUBLE_EQ(grad([](Tensor x) { return lgamma(x); })(1.0).item(), want[0]);
  EXPECT_DOUBLE_EQ(grad(grad([](Tensor x) { return lgamma(x); }))(1.0).item(), want[1]);
  EXPECT_DOUBLE_EQ(grad(grad(grad([](Tensor x) { return lgamma(x); })))(1.0).item(), want[2]);
  const auto slope = [](auto f, double x) { return grad(f)(x).item(); };
  const auto difference = [](auto f, double x) {
    const double h = 1e-5;
    return (f(Tensor(x + h)).item() - f(Tensor(x - h)).item()) / (2 * h);
  };
  const auto check = [&](auto f, double x) {
    EXPECT_NEAR(slope(f, x), difference(f, x), 1e-8 * (1 + std::abs(slope(f, x)))) << x;
    const auto df = [&](Tensor t) { return grad(f)(t); };
    EXPECT_NEAR(slope(df, x), difference(df, x), 1e-7 * (1 + std::abs(slope(df, x)))) << x;
  };
  for (double x : {-1.4, 0.3, 0.9, 1.7}) {
    check([](Tensor t) { return erfc(t); }, x);
    check([](Tensor t) { return erfcx(t); }, x);
    check([](Tensor t) { return log_ndtr(t); }, x);
    check([](Tensor t) { return ndtr(t); }, x);
    check([](Tensor t) { return lgamma(t); }, x);
    check([](Tensor t) { return polygamma(2, t); }, x);
    check([](Tensor t) { return erfc_inv(1 - t / 2); }, x);
    check([](Tensor t) { return erf_inv(t / 2); }, x);
  }
  // Far from zero the logarithm goes on as a parabola.
  EXPECT_NEAR(slope([](Tensor t) { return log_ndtr(t); }, -1e5), 1e5, 1e-4);
  EXPECT_NEAR(slope([](Tensor t) { return log_ndtr(t); }, 40.0), 0, 1e-300);
}

TEST(SpecialFunctions, a_gradient_of_a_branch_not_taken_is_not_poisoned) {
  const auto f = [](Tensor x) { return where(x > 0.0, lgamma(x), x); };
  EXPECT_EQ(grad(f)(-1.0).item(), 1);
  EXPECT_EQ(grad([](Tensor x) { return where(x < 1.0, erf_inv(x), 0.0); })(1.0).item(), 0);
}

TEST(SpecialFunctions, threads_do_not_share_a_sign) {
  // std::lgamma writes the global signgam; a sanitizer for threads would report it.
  const auto work = [] {
    const Tensor x = linspace(-9.7, 9.3, 1000);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(array_equal(lgamma(x), lgamma(x)));
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(SpecialFunctions, batches_and_programs_equal_the_loop) {
  const Tensor x = linspace(0.1, 0.9, 6);
  EXPECT_TRUE(array_equal(vmap([](Tensor t) { return polygamma(2, t); })(x), polygamma(2, x)));
  const auto f = [](Tensor t) { return log_ndtr(t) + lgamma(t) * erfcx(t) - ndtri(t); };
  EXPECT_TRUE(array_equal(evaluate(program(f, x), {x})[0], f(x)));
  EXPECT_TRUE(array_equal(vmap(grad(f))(x), grad([&](Tensor t) { return sum(f(t)); })(x)));
}

TEST(SpecialFunctions, intervals_enclose) {
  const auto range = [](auto f, double lo, double hi) {
    return Interval(interval(f)(Interval{lo, hi}));
  };
  const Interval bowl = range([](Tensor x) { return lgamma(x); }, 0.5, 3.0);
  EXPECT_NEAR(bowl.lo, -0.12148629053584961, 1e-15);
  EXPECT_NEAR(bowl.hi, std::log(2.0), 1e-15);
  const Interval slope = range([](Tensor x) { return digamma(x); }, 1.0, 2.0);
  EXPECT_TRUE(slope.contains(0) && slope.lo < -0.5772 && slope.hi > 0.4227 && slope.hi < 0.4228);
  EXPECT_TRUE(range([](Tensor x) { return erf_inv(x); }, -0.5, 1.0).contains(infinity));
  EXPECT_TRUE(range([](Tensor x) { return lgamma(x); }, -2.0, -1.0).contains(infinity));
}

}  // namespace
}  // namespace hom
