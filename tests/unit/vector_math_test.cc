// tests/unit/vector_math_test.cc -- the functions of backends/math/: how far they are off, special
// values, and that instruction sets, rows and single numbers agree bit for bit
//
// The oracle is the host's library in long double, which is right to a thousandth of the last place
// of f64 and was written by others.
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <hom/backends/cpu/vector_functions.h>

namespace hom::testing {
namespace {

using cpu::VectorFunctions;
using nest::Function;
using Exact = long double;

/// How many units in the last place `got` is off. Beyond the range, infinity counts as the number
/// after the largest. Infinite where a NaN, an infinity or the sign of a zero is wrong.
template <class T>
double ulps_off(T got, Exact want) {
  using Limits = std::numeric_limits<T>;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : wrong;
  if (std::isinf(want)) return static_cast<Exact>(got) == want ? 0 : wrong;
  if (std::signbit(got) != std::signbit(want)) return wrong;
  if (want == 0) return got == 0 ? 0 : wrong;
  int exponent = 0;
  std::frexp(want, &exponent);
  exponent = std::clamp(exponent, Limits::min_exponent, Limits::max_exponent);
  const Exact end = std::ldexp(Exact{1}, Limits::max_exponent);
  const auto inside = [&](Exact x) { return std::clamp(x, -end, end); };
  return static_cast<double>(std::fabs(inside(got) - inside(want)) *
                             std::ldexp(Exact{1}, Limits::digits - exponent));
}

Exact logistic(Exact x) {
  const Exact e = std::exp(-std::fabs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}
Exact rem(Exact a, Exact b) {
  const Exact rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(Exact{0}, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

struct Unary {
  Function function;
  Exact (*exact)(Exact);
  /// What is asserted, in units in the last place.
  double limit;
  /// Where the function is interesting.
  double low;
  double high;
};
const Unary unary_functions[] = {
    {Function::exp, std::exp, 1.1, -20, 20},      {Function::expm1, std::expm1, 2, -2, 2},
    {Function::log, std::log, 1, 0, 4},           {Function::log1p, std::log1p, 1, -1, 2},
    {Function::sin, std::sin, 1, -100, 100},      {Function::cos, std::cos, 1, -100, 100},
    {Function::tan, std::tan, 1, -100, 100},      {Function::asin, std::asin, 1.2, -1, 1},
    {Function::acos, std::acos, 1.2, -1, 1},      {Function::atan, std::atan, 1, -5, 5},
    {Function::sinh, std::sinh, 2.5, -5, 5},      {Function::cosh, std::cosh, 2.5, -5, 5},
    {Function::tanh, std::tanh, 1.5, -3, 3},      {Function::asinh, std::asinh, 2, -3, 3},
    {Function::acosh, std::acosh, 2, 1, 4},       {Function::atanh, std::atanh, 2, -1, 1},
    {Function::logistic, logistic, 1.1, -10, 10}, {Function::erf, std::erf, 1.1, -4, 4},
    {Function::erfc, std::erfc, 3.5, -4, 27},
};

struct Binary {
  Function function;
  Exact (*exact)(Exact, Exact);
  double limit;
};
const Binary binary_functions[] = {
    {Function::pow, std::pow, 1.2},
    {Function::atan2, std::atan2, 1.5},
    {Function::rem, rem, 0.5},
};

/// Zeros, infinities, NaN, subnormals, ends of ranges, and the neighbours of where formulas change.
template <class T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers{0, Limits::infinity(), Limits::quiet_NaN()};
  for (const double at : {1.0,
                          2.0,
                          3.0,
                          0.5,
                          0.25,
                          2.5,
                          0.375,
                          0.625,
                          0.41421356237309503,
                          0.70710678118654757,
                          1.4142135623730951,
                          0x1p-13,
                          0x1p-25,
                          0x1p-28,
                          0x1p-54,
                          0x1p13,
                          0x1p28,
                          0x1p17,
                          0x1p30,
                          0x1p22,
                          0x1p23,
                          0x1p24,
                          0x1p51,
                          0x1p52,
                          0x1p53,
                          709.782712893384,
                          710.4758600739439,
                          708.39641853226408,
                          745.13321910194122,
                          88.72283905206835,
                          89.41598629,
                          87.33654475,
                          103.97207708399179,
                          36.7368005696771,
                          17.3286795,
                          18.714973875118524,
                          9.01091,
                          5.86358,
                          9.19456,
                          10.0545,
                          26.5432,
                          27.2265,
                          20.0,
                          40.0,
                          5.0,
                          7.0,
                          12.0,
                          28.0,
                          0.78539816339744828,
                          1.5707963267948966,
                          3.1415926535897931,
                          2.356194490192345,
                          1e5,
                          1e10,
                          1e22,
                          1e30,
                          1e-5,
                          1e-20,
                          1e-30,
                          static_cast<double>(Limits::max()),
                          static_cast<double>(Limits::min()),
                          static_cast<double>(Limits::denorm_min())}) {
    T below = static_cast<T>(at);
    for (int i = 0; i < 2; ++i) below = std::nextafter(below, T{0});
    for (int i = 0; i < 5; ++i, below = std::nextafter(below, Limits::infinity()))
      numbers.push_back(below);
  }
  const std::size_t count = numbers.size();
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(-numbers[i]);
  return numbers;
}

template <class T>
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : random_(seed) {}
  /// Any bits.
  T any() {
    const std::uint64_t word = random_();
    T number;
    std::memcpy(&number, &word, sizeof number);
    return number;
  }
  T between(double low, double high) {
    return static_cast<T>(std::uniform_real_distribution<double>(low, high)(random_));
  }
  /// Of any size between 2^low and 2^high, with either sign.
  T of_size(double low, double high) {
    const T size = static_cast<T>(std::exp2(between(low, high)));
    return random_() % 2 == 0 ? size : -size;
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

 private:
  std::mt19937_64 random_;
};

/// Not a multiple of any number of lanes.
constexpr int random_count = 60'001;

template <class T>
std::vector<T> operands_of(const Unary& of) {
  Numbers<T> numbers(1);
  std::vector<T> x = special_numbers<T>();
  for (int i = 0; i < random_count; ++i) {
    const std::uint64_t kind = numbers.below(4);
    x.push_back(kind == 0   ? numbers.any()
                : kind == 1 ? numbers.of_size(-30, 4)
                            : numbers.between(of.low, of.high));
  }
  return x;
}

template <class T>
void pairs_of(std::vector<T>& a, std::vector<T>& b) {
  Numbers<T> numbers(2);
  const std::vector<T> special = special_numbers<T>();
  for (std::size_t i = 0; i < special.size(); ++i) {
    for (std::size_t j = i % 7; j < special.size(); j += 7) {
      a.push_back(special[i]);
      b.push_back(special[j]);
    }
  }
  constexpr bool is_f32 = sizeof(T) == 4;
  for (int i = 0; i < random_count; ++i) {
    T x = numbers.any();
    T y = numbers.any();
    switch (numbers.below(5)) {
      case 0:
        break;
      case 1:
        x = numbers.between(-2, 2);
        y = numbers.between(-2, 2);
        break;
      case 2:
        x = numbers.of_size(-30, 30);
        y = numbers.between(-8, 8);
        break;
      case 3:  // powers of what is near 1
        x = numbers.between(0.999, 1.001);
        y = numbers.between(is_f32 ? -1e5 : -7e5, is_f32 ? 1e5 : 7e5);
        break;
      default:  // powers over the whole range, of integers too
        x = numbers.of_size(is_f32 ? -100 : -900, is_f32 ? 100 : 900);
        y = static_cast<T>((is_f32 ? 100 : 740) * static_cast<double>(numbers.between(-1, 1)) /
                           std::log(std::fabs(static_cast<double>(x))));
        if (numbers.below(4) == 0) y = std::nearbyint(y);
    }
    a.push_back(x);
    b.push_back(y);
  }
}

template <class T>
std::string text_of(T x) {
  char text[64];
  std::snprintf(text, sizeof text, "%a (%.9g)", static_cast<double>(x), static_cast<double>(x));
  return text;
}

/// Equal bits, or both NaN.
template <class T>
bool is_same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

template <class T>
void check_unary(const Unary& of) {
  const std::vector<T> x = operands_of<T>(of);
  std::vector<T> first;
  for (const VectorFunctions* set : cpu::host_vector_functions()) {
    const auto* function = set->unary<T>(of.function);
    ASSERT_NE(function, nullptr) << name_of(of.function);
    std::vector<T> y(x.size());
    function->of_row(y.data(), x.data(), static_cast<std::int64_t>(x.size()));
    if (first.empty()) {
      double most = 0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double off = ulps_off(y[i], of.exact(static_cast<Exact>(x[i])));
        if (off > most) most = off, at = i;
      }
      EXPECT_LE(most, of.limit) << name_of(of.function) << " of " << text_of(x[at]) << " in f"
                                << 8 * sizeof(T) << " is " << text_of(y[at]);
      first = y;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(is_same(y[i], first[i]))
          << name_of(of.function) << " of " << text_of(x[i]) << " by " << set->name << ": "
          << text_of(y[i]) << ", not " << text_of(first[i]);
      const T alone = function->of_number(x[i]);
      ASSERT_TRUE(is_same(alone, first[i]))
          << name_of(of.function) << " of " << text_of(x[i]) << " alone by " << set->name << ": "
          << text_of(alone) << ", not " << text_of(first[i]);
    }
  }
}

template <class T>
void check_binary(const Binary& of) {
  std::vector<T> a;
  std::vector<T> b;
  pairs_of(a, b);
  std::vector<T> first;
  for (const VectorFunctions* set : cpu::host_vector_functions()) {
    const auto* function = set->binary<T>(of.function);
    ASSERT_NE(function, nullptr) << name_of(of.function);
    std::vector<T> y(a.size());
    function->of_row(y.data(), a.data(), b.data(), static_cast<std::int64_t>(a.size()));
    if (first.empty()) {
      double most = 0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const Exact want = of.exact(static_cast<Exact>(a[i]), static_cast<Exact>(b[i]));
        const double off = ulps_off(y[i], want);
        if (off > most) most = off, at = i;
      }
      EXPECT_LE(most, of.limit) << name_of(of.function) << " of " << text_of(a[at]) << " and "
                                << text_of(b[at]) << " in f" << 8 * sizeof(T) << " is "
                                << text_of(y[at]);
      first = y;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_TRUE(is_same(y[i], first[i])) << name_of(of.function) << " of " << text_of(a[i])
                                           << " and " << text_of(b[i]) << " by " << set->name;
      ASSERT_TRUE(is_same(function->of_number(a[i], b[i]), first[i]))
          << name_of(of.function) << " of " << text_of(a[i]) << " and " << text_of(b[i])
          << " alone by " << set->name;
    }
  }
}

TEST(VectorMath, functions_of_one_number_are_as_exact_as_promised_on_every_instruction_set) {
  for (const Unary& of : unary_functions) {
    check_unary<float>(of);
    check_unary<double>(of);
  }
}

TEST(VectorMath, functions_of_two_numbers_are_as_exact_as_promised_on_every_instruction_set) {
  for (const Binary& of : binary_functions) {
    check_binary<float>(of);
    check_binary<double>(of);
  }
}

TEST(VectorMath, results_may_overwrite_operands) {
  for (const VectorFunctions* set : cpu::host_vector_functions()) {
    std::vector<double> x{0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const auto* exp = set->unary<double>(Function::exp);
    std::vector<double> want;
    for (const double one : x) want.push_back(exp->of_number(one));
    exp->of_row(x.data(), x.data(), static_cast<std::int64_t>(x.size()));
    EXPECT_EQ(x, want) << set->name;
  }
}

TEST(VectorMath, other_functions_are_not_there) {
  EXPECT_EQ(cpu::vector_functions().unary_f32(Function::neg), nullptr);
  EXPECT_EQ(cpu::vector_functions().unary_f64(Function::pow), nullptr);
  EXPECT_EQ(cpu::vector_functions().binary_f64(Function::add), nullptr);
}

}  // namespace
}  // namespace hom::testing
