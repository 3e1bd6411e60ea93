// tests/cases/reports_integers_test.cc -- division and casts that never trap, the order of NaN, and
// empty tensors
//
// Each test names the row of README.md that it reproduces, and adds relatives of that row.
#include <cmath>
#include <cstdint>
#include <limits>

#include "support.h"

namespace hom::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::array<Dtype, 4> float_dtypes{f64, f32, f16, bf16};
const std::array<Dtype, 3> signed_dtypes{i8, i32, i64};
const std::array<Dtype, 3> unsigned_dtypes{u8, u32, u64};

/// f on concrete tensors, compared with its program at their types.
template <class F, class... Xs>
Tensor eager_and_captured(const F& f, const Xs&... xs) {
  const Tensor eager = f(xs...);
  const std::vector<Tensor> captured = evaluate(program(f, xs...), {xs...});
  EXPECT_TRUE(array_equal(eager, captured[0], true)) << eager << " and " << captured[0];
  return eager;
}

Tensor quotient(const Tensor& a, const Tensor& b) {
  return eager_and_captured([](Tensor x, Tensor y) { return x / y; }, a, b);
}
Tensor remainder_of(const Tensor& a, const Tensor& b) {
  return eager_and_captured([](Tensor x, Tensor y) { return x % y; }, a, b);
}

// Row 76.

TEST(Reports, integer_division_floors_and_the_remainder_takes_the_divisors_sign) {
  for (const Dtype dtype : signed_dtypes) {
    const Tensor a = tensor({-7, 7, -7, 7, 0}).astype(dtype);
    const Tensor b = tensor({2, -2, -2, 2, -3}).astype(dtype);
    EXPECT_TRUE(near(quotient(a, b), {-4, -4, 3, 3, 0}));
    EXPECT_TRUE(near(remainder_of(a, b), {1, -1, -1, 1, 0}));
    EXPECT_TRUE(array_equal(quotient(a, b) * b + remainder_of(a, b), a));
    // A C++ number on either side.
    EXPECT_TRUE(near(a / 2, {-4, 3, -4, 3, 0}));
    EXPECT_TRUE(near(7 / b, {3, -4, -4, 3, -3}));
  }
  for (const Dtype dtype : unsigned_dtypes) {
    EXPECT_TRUE(
        near(quotient(tensor({200, 7}).astype(dtype), tensor({3, 8}).astype(dtype)), {66, 0}));
    EXPECT_TRUE(
        near(remainder_of(tensor({200, 7}).astype(dtype), tensor({3, 8}).astype(dtype)), {2, 7}));
  }
}

TEST(Reports, integer_division_at_the_ends_of_the_range) {
  const std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(quotient(Tensor(largest), Tensor(-2)).item<std::int32_t>(), -1073741824);
  EXPECT_EQ(remainder_of(Tensor(largest), Tensor(-2)).item<std::int32_t>(), -1);
  EXPECT_EQ(quotient(Tensor(std::int8_t{120}), Tensor(std::int8_t{-27})).item<int>(), -5);
  EXPECT_EQ(remainder_of(Tensor(std::int8_t{120}), Tensor(std::int8_t{-27})).item<int>(), -15);
  const std::int64_t huge = (std::int64_t{1} << 62) + 1;  // not a double
  EXPECT_EQ(quotient(Tensor(huge), Tensor(std::int64_t{-2})).item<std::int64_t>(),
            -(std::int64_t{1} << 61) - 1);
  const auto check = []<class T>(T least) {
    EXPECT_EQ(quotient(Tensor(least), Tensor(T{-1})).template item<T>(), least);
    EXPECT_EQ(remainder_of(Tensor(least), Tensor(T{-1})).template item<T>(), 0);
    EXPECT_EQ(quotient(Tensor(least), Tensor(T{0})).template item<T>(), 0);
    EXPECT_EQ(remainder_of(Tensor(least), Tensor(T{0})).template item<T>(), least);
  };
  check(std::numeric_limits<std::int8_t>::min());
  check(std::numeric_limits<std::int32_t>::min());
  check(std::numeric_limits<std::int64_t>::min());
}

TEST(Reports, every_pair_of_bytes_divides_with_remainder) {
  std::vector<std::int32_t> a;
  std::vector<std::int32_t> b;
  std::vector<double> quotients;
  std::vector<double> remainders;
  for (int x = -128; x < 128; ++x) {
    for (int y = -128; y < 128; ++y) {
      a.push_back(x);
      b.push_back(y);
      const int floored = y == 0 ? 0 : static_cast<int>(std::floor(static_cast<double>(x) / y));
      quotients.push_back(floored == 128 ? -128 : floored);  // −128/−1 wraps
      remainders.push_back(x - floored * y);
    }
  }
  const Tensor x = tensor(a).astype(i8);
  const Tensor y = tensor(b).astype(i8);
  EXPECT_TRUE(near(quotient(x, y), quotients));
  EXPECT_TRUE(near(remainder_of(x, y), remainders));
  EXPECT_TRUE(array_equal((x / y) * y + x % y, x));
}

TEST(Reports, float_remainder_takes_the_divisors_sign) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor a = vector_of({-1, 1, -7, 7.5, 6}, dtype);
    const Tensor b = vector_of({5, -5, -2, 2, 3}, dtype);
    EXPECT_TRUE(near(remainder_of(a, b), {4, -4, -1, 1.5, 0}));
    EXPECT_TRUE(near(remainder_of(tensor(1.0, dtype), tensor(0.0, dtype)), nan));
    const auto f = [](Tensor x, Tensor y) { return x % y; };
    const auto [dx, dy] = gradients(f, tensor(-7.0, dtype), tensor(3.0, dtype));
    EXPECT_TRUE(near(dx, 1));
    EXPECT_TRUE(near(dy, 3));  // −⌊−7/3⌋
  }
}

TEST(Reports, integers_have_no_gradient_and_do_not_stop_the_floats) {
  const auto f = [](Tensor x, Tensor n) { return x * (n / 2).astype(f64); };
  const auto [dx, dn] = grad(f, wrt<0, 1>)(1.5, tensor(std::int64_t{7}, i64));
  EXPECT_TRUE(near(dx, 3));
  EXPECT_TRUE(dn.is_empty());
  EXPECT_THROW(grad([](Tensor n) { return n * n; })(Tensor(3)), Error);
}

// Row 78.

TEST(Reports, floats_saturate_to_integers_and_nan_becomes_zero) {
  const auto converted = [](double value, Dtype from, Dtype to) {
    return eager_and_captured([to](Tensor x) { return x.astype(to); }, tensor(value, from));
  };
  EXPECT_EQ(converted(300, f32, u8).item<int>(), 255);
  EXPECT_EQ(converted(nan, f32, i32).item<int>(), 0);
  EXPECT_EQ(converted(infinity, f32, i32).item<int>(), std::numeric_limits<std::int32_t>::max());
  const auto check = [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    const Dtype to = dtype_of<T>();
    for (const Dtype from : float_dtypes) {
      EXPECT_EQ(converted(infinity, from, to).template item<T>(), Limits::max());
      EXPECT_EQ(converted(-infinity, from, to).template item<T>(), Limits::min());
      EXPECT_EQ(converted(nan, from, to).template item<T>(), T{0});
      EXPECT_EQ(converted(2.75, from, to).template item<T>(), T{2});
      EXPECT_EQ(converted(-2.75, from, to).template item<T>(),
                Limits::is_signed ? static_cast<T>(-2) : T{0});
      EXPECT_EQ(converted(-0.5, from, to).template item<T>(), T{0});
    }
    for (const Dtype from : {f64, f32}) {
      EXPECT_EQ(converted(1e30, from, to).template item<T>(), Limits::max());
      EXPECT_EQ(converted(-1e30, from, to).template item<T>(), Limits::min());
      // 2ᵏ itself, just beyond the largest.
      const double power = std::ldexp(1.0, Limits::digits);
      EXPECT_EQ(converted(power, from, to).template item<T>(), Limits::max());
    }
  };
  check(std::int8_t{});
  check(std::int32_t{});
  check(std::int64_t{});
  check(std::uint8_t{});
  check(std::uint32_t{});
  check(std::uint64_t{});
  EXPECT_EQ(converted(nan, f32, bool_).item<bool>(), true);
  // A vector long enough for any vectorised loop, with each kind of element in every lane.
  std::vector<double> values;
  std::vector<double> bytes;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(std::array{300.0, -4.0, nan, infinity, 17.9, -infinity,
                                255.5}[static_cast<std::size_t>(i % 7)]);
    bytes.push_back(std::array{255, 0, 0, 255, 17, 0, 255}[static_cast<std::size_t>(i % 7)]);
  }
  EXPECT_TRUE(near(vector_of(values, f32).astype(u8), bytes));
  EXPECT_TRUE(near(vector_of(values, f64).astype(u8), bytes));
}

TEST(Reports, integers_wrap_when_they_narrow) {
  EXPECT_EQ(tensor(300, i32).astype(u8).item<int>(), 44);
  EXPECT_EQ(tensor(200, i32).astype(i8).item<int>(), -56);
  EXPECT_EQ(tensor(-1, i32).astype(u64).item<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ((tensor(std::numeric_limits<std::int32_t>::max(), i32) + 1).item<std::int32_t>(),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((-tensor(-128, i8)).item<int>(), -128);
  EXPECT_EQ(abs(tensor(-128, i8)).item<int>(), -128);
}

// Row 81.

TEST(Reports, argmax_finds_the_first_nan_as_max_does) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor x = vector_of({3, nan, 1, 5}, dtype);
    EXPECT_EQ(argmax(x, 0).item<int>(), 1);
    EXPECT_EQ(argmin(x, 0).item<int>(), 1);
    EXPECT_TRUE(near(max(x), nan));
    EXPECT_TRUE(near(min(x), nan));
    EXPECT_TRUE(near(cummax(x), {3, nan, nan, nan}));
    EXPECT_TRUE(near(maximum(x, 4), {4, nan, 4, 5}));
    EXPECT_TRUE(near(minimum(4, x), {3, nan, 1, 4}));
    EXPECT_TRUE(near(max_or(x, 0), nan));
    EXPECT_EQ(argmax(full({3}, nan, dtype), 0).item<int>(), 0);
    EXPECT_EQ(argmin(full({3}, nan, dtype), 0).item<int>(), 0);
    EXPECT_EQ(argmax(vector_of({nan, infinity, nan}, dtype), 0).item<int>(), 0);
    EXPECT_EQ(argmax(vector_of({1, 7, 7, nan, nan}, dtype), 0).item<int>(), 3);
    EXPECT_EQ(argmax(vector_of({1, 7, 7, 0}, dtype), 0).item<int>(), 1);
    EXPECT_EQ(argmin(vector_of({-infinity, -infinity}, dtype), 0).item<int>(), 0);
  }
  const Tensor table = tensor({{3.0, nan, 5.0}, {4.0, 1.0, 5.0}});
  EXPECT_TRUE(near(argmax(table, 1), {1, 2}));
  EXPECT_TRUE(near(argmax(table, 0), {1, 0, 0}));
  EXPECT_EQ(argmax(table, 1, Keep::yes).type(), (i64[{2, 1}]));
  EXPECT_EQ(argmax(tensor({5u, 9u, 9u}), 0).item<int>(), 1);
  EXPECT_EQ(argmin(tensor({true, false, false}), 0).item<int>(), 1);
}

TEST(Reports, the_position_agrees_with_the_extreme_for_long_rows) {
  for (const std::int64_t n : {1, 7, 8, 31, 64, 1000}) {
    for (std::int64_t place = 0; place < n; place += std::max<std::int64_t>(1, n / 5)) {
      std::vector<double> values(static_cast<std::size_t>(n), -1);
      values[static_cast<std::size_t>(place)] = nan;
      EXPECT_EQ(argmax(tensor(values), 0).item<std::int64_t>(), place);
      EXPECT_TRUE(near(max(tensor(values)), nan));
      values[static_cast<std::size_t>(place)] = -0.5;
      EXPECT_EQ(argmax(tensor(values), 0).item<std::int64_t>(), place);
      EXPECT_TRUE(near(max(tensor(values)), -0.5));
    }
  }
}

// Rows 85 and 86.

TEST(Reports, extremes_over_an_empty_axis_are_errors_that_name_it) {
  EXPECT_EQ(max(zeros({0, 2}), 1).type(), f64[{0}]);
  EXPECT_EQ(argmax(zeros({0, 2}), 1).type(), i64[{0}]);
  EXPECT_EQ(max(zeros({0, 2}), 1, Keep::yes).type(), (f64[{0, 1}]));
  const Tensor empty_rows = zeros({2, 0});
  for (const std::string& message :
       {message_of([&] { max(empty_rows, 1); }), message_of([&] { min(empty_rows, -1); }),
        message_of([&] { argmax(empty_rows, 1); }), message_of([&] { argmin(empty_rows, 1); }),
        message_of([&] { max(empty_rows); }),
        message_of([&] { program([](Tensor x) { return max(x, 1); }, f64[{2, 0}]); })}) {
    EXPECT_NE(message.find("axis 1"), std::string::npos) << message;
    EXPECT_NE(message.find("[2, 0]"), std::string::npos) << message;
    EXPECT_NE(message.find("reports_integers_test.cc"), std::string::npos) << message;
  }
  EXPECT_THROW(argmax(zeros({0}), 0), Error);
  EXPECT_THROW(argmax(zeros({0}, i32), 0), Error);
  EXPECT_TRUE(near(max_or(empty_rows, -infinity, 1), {-infinity, -infinity}));
  EXPECT_TRUE(near(min_or(empty_rows, 7, 1), {7, 7}));
  EXPECT_EQ(cummax(empty_rows, 1).type(), (f64[{2, 0}]));
}

// Row 88.

TEST(Reports, sums_products_and_norms_of_nothing) {
  for (const Dtype dtype : float_dtypes) {
    const Tensor nothing = zeros({2, 0}, dtype);
    EXPECT_TRUE(near(norm(nothing), 0));
    EXPECT_TRUE(near(norm(nothing, 1), {0, 0}));
    EXPECT_EQ(norm(nothing, 0).type(), dtype[{0}]);
    EXPECT_EQ(gradient([](Tensor x) { return norm(x); }, nothing).type(), (dtype[{2, 0}]));
    EXPECT_TRUE(near(sum(nothing), 0));
    EXPECT_TRUE(near(prod(nothing, 1), {1, 1}));
    EXPECT_TRUE(near(mean(nothing), nan));
    EXPECT_EQ(gradient([](Tensor x) { return prod(x); }, nothing).type(), (dtype[{2, 0}]));
    EXPECT_TRUE(near(matmul(nothing, zeros({0, 3}, dtype)), {0, 0, 0, 0, 0, 0}));
  }
  EXPECT_EQ(all_of(zeros({0}, bool_)).item<bool>(), true);
  EXPECT_EQ(any_of(zeros({0}, bool_)).item<bool>(), false);
}

}  // namespace
}  // namespace hom::cases
