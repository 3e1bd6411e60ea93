// tests/unit/namespace_test.cc -- `using namespace hom` beside the standard library and POSIX:
// nothing is ambiguous
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

using namespace hom;

namespace {

std::string text(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

const Tensor x = tensor({-2.0, 0.0, 3.0});
const Tensor n = tensor({1, 2, 3});
const Tensor c = x > 0;

TEST(Namespace, functions_of_cmath_keep_their_meaning_for_numbers) {
  const double d = 0.5;
  const float f = 0.5F;
  static_assert(std::is_same_v<decltype(sin(d)), double>);
  static_assert(std::is_same_v<decltype(cos(d)), double>);
  static_assert(std::is_same_v<decltype(pow(d, d)), double>);
  static_assert(std::is_same_v<decltype(fabs(d)), double>);
  static_assert(std::is_same_v<decltype(abs(1)), int>);
  static_assert(std::is_same_v<decltype(div(7, 2)), div_t>);
  EXPECT_EQ(sin(d), std::sin(0.5));
  EXPECT_EQ(tan(d) + asin(d) + acos(d) + atan(d),
            std::tan(d) + std::asin(d) + std::acos(d) + std::atan(d));
  EXPECT_EQ(sinh(d) + cosh(d) + tanh(d), std::sinh(d) + std::cosh(d) + std::tanh(d));
  EXPECT_EQ(asinh(d) + acosh(1.5) + atanh(d), std::asinh(d) + std::acosh(1.5) + std::atanh(d));
  EXPECT_EQ(exp(d) + expm1(d) + log(d) + log1p(d),
            std::exp(d) + std::expm1(d) + std::log(d) + std::log1p(d));
  EXPECT_EQ(sqrt(d) + erf(d) + hypot(d, d), std::sqrt(d) + std::erf(d) + std::hypot(d, d));
  EXPECT_EQ(floor(1.5) + ceil(1.5) + round(1.5), 5);
  EXPECT_EQ(atan2(d, d), std::atan2(d, d));
  EXPECT_EQ(fmod(5.5, 2.0) + fmax(1.0, 2.0) + fmin(1.0, 2.0), 4.5);
  EXPECT_EQ(pow(2.0, 3), 8);
  EXPECT_EQ(pow(2, 3.0), 8);
  EXPECT_EQ(abs(-3), 3);
  EXPECT_EQ(std::abs(-2.5), 2.5);
  EXPECT_EQ(std::sin(f), std::sin(0.5F));
  EXPECT_EQ(std::max(1, 2) + std::min(1, 2), 3);
  EXPECT_EQ(lgamma(3.0), std::lgamma(3.0));
}

TEST(Namespace, the_same_names_take_tensors) {
  EXPECT_DOUBLE_EQ(sin(Tensor(0.5)).item(), std::sin(0.5));
  EXPECT_DOUBLE_EQ(hom::cos(0.5).item(), std::cos(0.5));
  EXPECT_DOUBLE_EQ(pow(Tensor(2.0), 3).item(), 8);
  EXPECT_DOUBLE_EQ(pow(2.0, Tensor(3.0)).item(), 8);
  EXPECT_DOUBLE_EQ(pow(2, Tensor(3.0)).item(), 8);
  EXPECT_DOUBLE_EQ(atan2(Tensor(1.0), 2.0).item(), std::atan2(1.0, 2.0));
  EXPECT_DOUBLE_EQ(hypot(3.0, Tensor(4.0)).item(), 5);
  EXPECT_EQ(text(abs(x)), "f64[3] [2, 0, 3]");
  EXPECT_EQ(text(round(x / 2)), "f64[3] [-1, 0, 2]");
  EXPECT_EQ(text(floor(x) + ceil(x) + sqrt(x * x)), "f64[3] [-2, 0, 9]");
  EXPECT_EQ(max(x).item(), 3);
  EXPECT_EQ(min(x, 0).item(), -2);
  EXPECT_EQ(text(maximum(x, 0)), "f64[3] [0, 0, 3]");
  EXPECT_EQ(text(minimum(1, x)), "f64[3] [-2, 0, 1]");
  EXPECT_EQ(text(clamp(x, -1, 1)), "f64[3] [-1, 0, 1]");
  EXPECT_EQ(std::clamp(7, 0, 5), 5);
  EXPECT_TRUE(any_of(c).item<bool>());
  EXPECT_FALSE(all_of(c).item<bool>());
  EXPECT_EQ(text(transpose(x)), text(x));
  EXPECT_EQ(text(where(c, 1.0, x)), "f64[3] [-2, 0, 1]");
  EXPECT_EQ(text(where(c, x, 2)), "f64[3] [2, 2, 3]");
  EXPECT_EQ(text(exp(Tensor(0.0))), "f64[] 1");
  EXPECT_EQ(text(log(Tensor(1.0))), "f64[] 0");
  EXPECT_EQ(text(iota(i64[{3}])), "i64[3] [0, 1, 2]");
  EXPECT_EQ(text(sum(n)), "i32[] 6");
  EXPECT_EQ(text(norm(tensor({3.0, 4.0}))), "f64[] 5");
  EXPECT_EQ(split(n, 3).size(), 3u);
  EXPECT_EQ(split(key(1), 3).size(), 3u);
  EXPECT_EQ(text(uniform(key(1), {0})), "f32[0] []");
}

TEST(Namespace, operators_mix_numbers_and_tensors) {
  EXPECT_EQ(text(2.0 + x), "f64[3] [0, 2, 5]");
  EXPECT_EQ(text(x + 2), "f64[3] [0, 2, 5]");
  EXPECT_EQ(text(1 - x), "f64[3] [3, 1, -2]");
  EXPECT_EQ(text(2.5F * x), "f64[3] [-5, 0, 7.5]");
  EXPECT_EQ(text(x / 2), "f64[3] [-1, 0, 1.5]");
  EXPECT_EQ(text(n % 2), "i32[3] [1, 0, 1]");
  EXPECT_EQ(text(-x), "f64[3] [2, -0, -3]");
  EXPECT_EQ(text(n << 2), "i32[3] [4, 8, 12]");
  EXPECT_EQ(text(1 << n), "i32[3] [2, 4, 8]");
  EXPECT_EQ(text(n >> 1), "i32[3] [0, 1, 1]");
  EXPECT_EQ(text((n & 1) | (n ^ 2)), "i32[3] [3, 0, 1]");
  EXPECT_EQ(text(~n), "i32[3] [-2, -3, -4]");
  EXPECT_EQ(text(x == 0.0), "bool[3] [false, true, false]");
  EXPECT_EQ(text(0.0 == x), "bool[3] [false, true, false]");
  EXPECT_EQ(text(x == x), "bool[3] [true, true, true]");
  EXPECT_EQ(text(x != 0), "bool[3] [true, false, true]");
  EXPECT_EQ(text(1 != x), "bool[3] [true, true, true]");
  EXPECT_EQ(text(x < 1), "bool[3] [true, true, false]");
  EXPECT_EQ(text(1 >= x), "bool[3] [true, true, false]");
  EXPECT_EQ(text(x <= -x), "bool[3] [true, true, false]");
  EXPECT_EQ(text(x > 0 && x < 4), "bool[3] [false, false, true]");
  EXPECT_EQ(text(x < 0 || c), "bool[3] [true, false, true]");
  EXPECT_EQ(text(c && true), "bool[3] [false, false, true]");
  EXPECT_EQ(text(true && c), "bool[3] [false, false, true]");
  EXPECT_EQ(text(c || true), "bool[3] [true, true, true]");
  EXPECT_EQ(text(false || c), "bool[3] [false, false, true]");
  EXPECT_EQ(text(!c), "bool[3] [true, true, false]");
  EXPECT_EQ(text(!(x > 0)), "bool[3] [true, true, false]");
}

TEST(Namespace, compound_assignment_rebinds) {
  Tensor y = x;
  const Tensor before = y;
  y += 1;
  y -= 0.5;
  y *= 2;
  y /= 2.0;
  y += y;
  EXPECT_EQ(text(y), "f64[3] [-3, 1, 7]");
  EXPECT_EQ(text(before), "f64[3] [-2, 0, 3]");
}

TEST(Namespace, streams_and_shifts_are_told_apart) {
  std::ostringstream out;
  out << n << ' ' << (n << 1) << "\n";
  EXPECT_EQ(out.str(), "i32[3] [1, 2, 3] i32[3] [2, 4, 6]\n");
  std::istringstream in("7");
  int seven = 0;
  in >> seven;
  EXPECT_EQ(text(n >> (seven - 6)), "i32[3] [0, 1, 1]");
  std::cout << std::flush;
}

TEST(Namespace, posix_calls_keep_their_meaning) {
  const int copy = dup(0);
  if (copy >= 0) {
    EXPECT_EQ(close(copy), 0);
  }
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], "hom", 3), 3);
  char buffer[4] = {};
  EXPECT_EQ(read(ends[0], buffer, 3), 3);
  EXPECT_STREQ(buffer, "hom");
  EXPECT_EQ(close(ends[0]) + close(ends[1]), 0);
  EXPECT_GT(getpid(), 0);
  // The process is not forked here: only the name is looked up.
  static_assert(std::is_same_v<decltype(fork()), pid_t>);
  static_assert(std::is_same_v<decltype(dup(0)), int>);
  static_assert(std::is_same_v<decltype(link("a", "b")), int>);
}

TEST(Namespace, combinators_share_names_with_posix_and_std) {
  const auto f = [](Tensor t) { return t + 1; };
  const auto g = [](Tensor t) { return t * 2; };
  const auto [a, b] = fork(f, g)(Tensor(3.0));
  EXPECT_EQ(a.item() + b.item(), 10);
  const auto both = cross(f, g)(Tensor(3.0), Tensor(4.0));
  EXPECT_EQ(std::get<0>(both).item() + std::get<1>(both).item(), 12);
  EXPECT_EQ(join(f, g)(Tensor(3.0), Tensor(4.0)).item(), 12);
  EXPECT_EQ(compose(f, g)(Tensor(3.0)).item(), 7);
  EXPECT_EQ((arrow(f) >> g)(Tensor(3.0)).item(), 8);
  EXPECT_EQ((f >> arrow(g) >> arrows::exp >> arrows::log)(Tensor(3.0)).item(), 8);
  EXPECT_EQ((arrows::dup >> arrows::mul)(Tensor(3.0)).item(), 9);
  EXPECT_EQ((arrows::id >> arrows::sin)(Tensor(0.0)).item(), 0);
  EXPECT_EQ(curry([](Tensor s, Tensor t) { return s - t; })(Tensor(3.0))(Tensor(1.0)).item(), 2);
  EXPECT_EQ(arrows::apply(f, Tensor(1.0)).item(), 2);
  EXPECT_EQ(std::apply([](int s, int t) { return s + t; }, std::tuple{1, 2}), 3);
  EXPECT_EQ(std::invoke(f, Tensor(1.0)).item(), 2);
}

TEST(Namespace, products_of_std_and_algorithms_work_on_tensors) {
  std::tuple<Tensor, std::pair<Tensor, Tensor>> t{1.0, {2.0, 3.0}};
  const auto& [first, rest] = t;
  EXPECT_EQ(first.item() + rest.first.item() + std::get<1>(t).second.item(), 6);
  EXPECT_EQ(leaves(t).size(), 3u);
  const std::array<Tensor, 2> pair{1.0, 2.0};
  EXPECT_EQ(get<1>(pair).item(), 2);
  std::vector<Tensor> list{3.0, 1.0, 2.0};
  std::sort(list.begin(), list.end(),
            [](const Tensor& a, const Tensor& b) { return a.item() < b.item(); });
  std::transform(list.begin(), list.end(), list.begin(), [](const Tensor& a) { return a * 2; });
  EXPECT_EQ(std::accumulate(list.begin(), list.end(), Tensor(0.0)).item(), 12);
  std::swap(list[0], list[2]);
  EXPECT_EQ(list[0].item(), 6);
  std::map<std::string, Tensor> named_ones{{"a", 1.0}};
  std::optional<Tensor> maybe = named_ones.at("a");
  EXPECT_EQ((*maybe + 1).item(), 2);
  const std::function<Tensor(Tensor)> stored = [](Tensor v) { return cos(v); };
  EXPECT_EQ(stored(0.0).item(), 1);
  std::mt19937 generator(1);
  EXPECT_GE(std::uniform_real_distribution<double>(0, 1)(generator), 0);
}

TEST(Namespace, indices_and_constants_are_at_hand) {
  const Tensor m = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(text(m(0)), "i32[3] [1, 2, 3]");
  EXPECT_EQ(text(m(all, 1)), "i32[2] [2, 5]");
  EXPECT_EQ(text(m(ellipsis, -1)), "i32[2] [3, 6]");
  EXPECT_EQ(text(m(1, Range{0, 2})), "i32[2] [4, 5]");
  EXPECT_EQ(m(newaxis).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(m[1][2].item<int>(), 6);
  EXPECT_EQ(m.T().shape(), (Shape{3, 2}));
  for (Dtype dtype : {bool_, i8, i32, i64, u8, u32, u64, f16, bf16, f32, f64})
    EXPECT_EQ(dtype[{2}].rank(), 1);
}

TEST(Namespace, transformations_are_at_hand) {
  const auto f = [](Tensor s, Tensor t) { return cos(s + t * s); };
  const auto [value, dx] = value_and_grad(f)(0.1, 0.2);
  EXPECT_DOUBLE_EQ(value.item(), std::cos(0.1 + 0.2 * 0.1));
  EXPECT_NEAR(dx.item(), -std::sin(0.12) * 1.2, 1e-15);
  const auto [v, g] = value_and_grad(f, wrt<0, 1>)(0.1, 0.2);
  EXPECT_NEAR(std::get<1>(g).item(), -std::sin(0.12) * 0.1, 1e-15);
  EXPECT_EQ(v.item(), value.item());
  EXPECT_EQ(transpose([](Tensor t) { return 3 * t; }, f64[{}])(2.0).item(), 6);
  EXPECT_EQ(cond(x(0) > 0, arrows::sin, arrows::neg, x).shape(), (Shape{3}));
  EXPECT_EQ(program(f, f64[{}], f64[{}]).step_count(), 3u);
}

}  // namespace
