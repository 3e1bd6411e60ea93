// tests/unit/eager_elementwise_test.cc -- elementwise kernels against slow references
#include "eager_support.h"

#include <hom/backends/cpu/scalar_math.h>

namespace hom::testing {
namespace {

template <class T>
constexpr bool is_float = std::same_as<T, long double>;

__int128 floor_quotient(__int128 a, __int128 b) {
  if (b == 0) return 0;
  const __int128 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

struct Unary {
  const char* name;
  DtypeSet dtypes;
  long double (*on_floats)(long double);
  __int128 (*on_integers)(__int128) = nullptr;
  double steps = 4;
};

using LD = long double;
using Int = __int128;

const Unary unary_table[] = {
    {"neg", numbers, [](LD x) { return -x; }, [](Int x) { return -x; }, 0},
    {"abs", numbers, [](LD x) { return std::fabs(x); }, [](Int x) { return x < 0 ? -x : x; }, 0},
    {"sign", numbers, [](LD x) { return x > 0   ? LD{1}
                                        : x < 0 ? LD{-1}
                                                : x; },
     [](Int x) { return Int{x > 0} - Int{x < 0}; }, 0},
    {"round", floats, [](LD x) { return std::nearbyint(x); }, nullptr, 0},
    {"floor", floats, [](LD x) { return std::floor(x); }, nullptr, 0},
    {"ceil", floats, [](LD x) { return std::ceil(x); }, nullptr, 0},
    {"sqrt", floats, [](LD x) { return std::sqrt(x); }, nullptr, 1},
    {"rsqrt", floats, [](LD x) { return 1 / std::sqrt(x); }},
    {"exp", floats, [](LD x) { return std::exp(x); }},
    {"expm1", floats, [](LD x) { return std::expm1(x); }},
    {"log", floats, [](LD x) { return std::log(x); }},
    {"log1p", floats, [](LD x) { return std::log1p(x); }},
    {"sin", floats, [](LD x) { return std::sin(x); }},
    {"cos", floats, [](LD x) { return std::cos(x); }},
    {"tan", floats, [](LD x) { return std::tan(x); }},
    {"asin", floats, [](LD x) { return std::asin(x); }},
    {"acos", floats, [](LD x) { return std::acos(x); }},
    {"atan", floats, [](LD x) { return std::atan(x); }},
    {"sinh", floats, [](LD x) { return std::sinh(x); }},
    {"cosh", floats, [](LD x) { return std::cosh(x); }},
    {"tanh", floats, [](LD x) { return std::tanh(x); }},
    {"asinh", floats, [](LD x) { return std::asinh(x); }},
    {"acosh", floats, [](LD x) { return std::acosh(x); }},
    {"atanh", floats, [](LD x) { return std::atanh(x); }},
    {"logistic", floats, [](LD x) { return 1 / (1 + std::exp(-x)); }},
    {"erf", floats, [](LD x) { return std::erf(x); }},
    {"not", integers, nullptr, [](Int x) { return ~x; }, 0},
};

TEST(EagerElementwise, UnaryFunctionsMatchSlowReferencesOnEveryDtypeAndLayout) {
  Random random(1);
  for (const Unary& row : unary_table) {
    for_each_dtype(row.dtypes, [&]<class T>() {
      for (int round = 0; round < 25; ++round) {
        const Tensor x = random_tensor<T>(random, random_shape(random));
        std::vector<T> want;
        for (T value : elements<T>(x)) {
          if constexpr (is_float<Wide<T>>) {
            want.push_back(narrow<T>(row.on_floats(wide(value))));
          } else {
            want.push_back(narrow<T>(row.on_integers(wide(value))));
          }
        }
        expect_elements<T>(run(row.name, {}, x), want, row.steps, row.name);
      }
    });
  }
}

struct Binary {
  const char* name;
  DtypeSet dtypes;
  long double (*on_floats)(long double, long double);
  __int128 (*on_integers)(__int128, __int128) = nullptr;
  double steps = 4;
};

LD reference_rem(LD a, LD b) {
  const LD r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

const Binary binary_table[] = {
    {"add", numbers, [](LD a, LD b) { return a + b; }, [](Int a, Int b) { return a + b; }, 1},
    {"sub", numbers, [](LD a, LD b) { return a - b; }, [](Int a, Int b) { return a - b; }, 1},
    {"mul", numbers, [](LD a, LD b) { return a * b; },
     [](Int a, Int b) {
       return static_cast<Int>(static_cast<unsigned __int128>(a) *
                               static_cast<unsigned __int128>(b));
     },
     1},
    {"div", numbers, [](LD a, LD b) { return a / b; }, floor_quotient, 1},
    {"rem", numbers, reference_rem, [](Int a, Int b) { return a - floor_quotient(a, b) * b; }, 1},
    {"max", numbers, [](LD a, LD b) { return std::isnan(a) || a > b ? a : b; },
     [](Int a, Int b) { return a > b ? a : b; }, 0},
    {"min", numbers, [](LD a, LD b) { return std::isnan(a) || a < b ? a : b; },
     [](Int a, Int b) { return a < b ? a : b; }, 0},
    {"atan2", floats, [](LD a, LD b) { return std::atan2(a, b); }},
    {"scale", floats, [](LD a, LD b) { return a == 0 || b == 0 ? 0 : a * b; }, nullptr, 1},
    {"and", integers, nullptr, [](Int a, Int b) { return a & b; }},
    {"or", integers, nullptr, [](Int a, Int b) { return a | b; }},
    {"xor", integers, nullptr, [](Int a, Int b) { return a ^ b; }},
};

TEST(EagerElementwise, BinaryFunctionsMatchSlowReferencesOnEveryDtypeAndLayout) {
  Random random(2);
  for (const Binary& row : binary_table) {
    for_each_dtype(row.dtypes, [&]<class T>() {
      for (int round = 0; round < 40; ++round) {
        const Shape shape = random_shape(random);
        const Tensor a = random_tensor<T>(random, shape);
        const Tensor b = random_tensor<T>(random, shape);
        const std::vector<T> x = elements<T>(a);
        const std::vector<T> y = elements<T>(b);
        std::vector<T> want;
        for (std::size_t i = 0; i < x.size(); ++i) {
          if constexpr (is_float<Wide<T>>) {
            want.push_back(narrow<T>(row.on_floats(wide(x[i]), wide(y[i]))));
          } else {
            want.push_back(narrow<T>(row.on_integers(wide(x[i]), wide(y[i]))));
          }
        }
        expect_elements<T>(run(row.name, {}, a, b), want, row.steps, row.name);
      }
    });
  }
}

TEST(EagerElementwise, ComparisonsGiveBoolOnEveryDtype) {
  Random random(3);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (int round = 0; round < 40; ++round) {
      const Shape shape = random_shape(random);
      const Tensor a = random_tensor<T>(random, shape);
      const Tensor b = random_tensor<T>(random, shape);
      const std::vector<T> x = elements<T>(a);
      const std::vector<T> y = elements<T>(b);
      const auto check = [&](const char* name, auto compare) {
        std::vector<bool> want;
        for (std::size_t i = 0; i < x.size(); ++i) want.push_back(compare(wide(x[i]), wide(y[i])));
        expect_elements<bool>(run(name, {}, a, b), want, 0, name);
      };
      check("eq", std::equal_to<>());
      check("ne", std::not_equal_to<>());
      check("lt", std::less<>());
      check("le", std::less_equal<>());
      check("gt", std::greater<>());
      check("ge", std::greater_equal<>());
    }
  });
}

TEST(EagerElementwise, LogicOnBool) {
  const Tensor a = row_of<bool>({false, false, true, true});
  const Tensor b = row_of<bool>({false, true, false, true});
  EXPECT_EQ(elements<bool>(run("and", {}, a, b)), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(elements<bool>(run("or", {}, a, b)), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(elements<bool>(run("xor", {}, a, b)), (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(elements<bool>(run("not", {}, a)), (std::vector<bool>{true, true, false, false}));
}

TEST(EagerElementwise, IntegerDivisionFloorsAndTheRemainderTakesTheDivisorsSign) {
  constexpr std::int32_t low = INT32_MIN;
  const Tensor a = row_of<std::int32_t>({-7, 7, -7, 7, INT32_MAX, low, low, 5, -5, 0, low});
  const Tensor b = row_of<std::int32_t>({2, -2, -2, 2, -2, -1, 1, 0, 0, 3, low});
  EXPECT_EQ(elements<std::int32_t>(run("div", {}, a, b)),
            (std::vector<std::int32_t>{-4, -4, 3, 3, -1073741824, low, low, 0, 0, 0, 1}));
  EXPECT_EQ(elements<std::int32_t>(run("rem", {}, a, b)),
            (std::vector<std::int32_t>{1, -1, -1, 1, -1, 0, 0, 5, -5, 0, 0}));
  EXPECT_EQ(run("div", {}, tensor(120, i8), tensor(-27, i8)).item<int>(), -5);
}

TEST(EagerElementwise, EveryPairOfBytesDividesWithRemainder) {
  std::vector<std::int8_t> a, b;
  for (int i = -128; i < 128; ++i) {
    for (int j = -128; j < 128; ++j) {
      a.push_back(static_cast<std::int8_t>(i));
      b.push_back(static_cast<std::int8_t>(j));
    }
  }
  const Tensor x = row_of(a);
  const Tensor y = row_of(b);
  const auto q = elements<std::int8_t>(run("div", {}, x, y));
  const auto r = elements<std::int8_t>(run("rem", {}, x, y));
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(static_cast<std::int8_t>(q[i] * b[i] + r[i]), a[i])
        << int{a[i]} << " over " << int{b[i]};
    ASSERT_TRUE(r[i] == 0 || b[i] == 0 || (r[i] < 0) == (b[i] < 0))
        << int{a[i]} << " over " << int{b[i]};
  }
}

TEST(EagerElementwise, FloatRemainderIsNumPys) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor a = row_of<double>({-1, 1, -1, 5.5, -6, 6, 1, -1});
  const Tensor b = row_of<double>({5, -5, -5, 2, 3, -3, inf, inf});
  EXPECT_EQ(elements<double>(run("rem", {}, a, b)),
            (std::vector<double>{4, -4, -1, 1.5, 0, 0, 1, inf}));
  EXPECT_TRUE(std::signbit(run("rem", {}, Tensor(6.0), Tensor(-3.0)).item()));
  EXPECT_TRUE(std::isnan(run("rem", {}, Tensor(1.0), Tensor(0.0)).item()));
}

TEST(EagerElementwise, IntegerPowersWrapAndRefuseNegativeExponents) {
  const Tensor a = row_of<std::int32_t>({0, 0, 2, -3, 3, 10, -1});
  const Tensor b = row_of<std::int32_t>({0, 5, 10, 3, 21, 10, 7});
  EXPECT_EQ(elements<std::int32_t>(run("pow", {}, a, b)),
            (std::vector<std::int32_t>{1, 0, 1024, -27, static_cast<std::int32_t>(10460353203),
                                       static_cast<std::int32_t>(10000000000), -1}));
  try {
    run("pow", {}, a, row_of<std::int32_t>({0, 5, 10, -3, 21, 10, 7}));
    FAIL() << "a negative exponent passed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("pow: the integer exponent -3 is negative"),
              std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("eager_support.h"), std::string::npos) << error.what();
  }
  EXPECT_EQ(run("pow", {}, tensor(3, u64), tensor(41, u64)).item<std::uint64_t>(),
            18026252303461234787ull);
}

TEST(EagerElementwise, FloatPowersFollowTheCLibrary) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for_each_dtype(floats, [&]<class T>() {
    std::vector<T> a, b, want;
    for (double base : {0.0, -0.0, 1.0, -2.0, 2.5, nan}) {
      for (double exponent : {0.0, -1.0, 2.0, 3.0, 0.5, nan}) {
        a.push_back(narrow<T>(base));
        b.push_back(narrow<T>(exponent));
        want.push_back(narrow<T>(
            std::pow(static_cast<long double>(base), static_cast<long double>(exponent))));
      }
    }
    expect_elements<T>(run("pow", {}, row_of(a), row_of(b)), want, 2, "pow");
  });
  EXPECT_EQ(run("pow", {}, Tensor(0.0), Tensor(0.0)).item(), 1.0);
}

TEST(EagerElementwise, ShiftsBeyondTheWidthGiveZeroOrTheSign) {
  for_each_dtype(integers, [&]<class T>() {
    if constexpr (scalar::Integer<T>) {
      constexpr int width = 8 * sizeof(T);
      std::vector<T> a, b, left, right;
      for (const T value :
           {T{0}, T{1}, T{100}, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()}) {
        for (int amount = std::is_signed_v<T> ? -2 : 0; amount < 2 * width && amount < 127;
             ++amount) {
          const bool proper = 0 <= amount && amount < width;
          a.push_back(value);
          b.push_back(static_cast<T>(amount));
          left.push_back(proper
                             ? static_cast<T>(static_cast<unsigned __int128>(wide(value)) << amount)
                             : T{0});
          right.push_back(static_cast<T>(wide(value) >> (proper ? amount : 100)));
        }
      }
      expect_elements<T>(run("shift_left", {}, row_of(a), row_of(b)), left, 0, "shift_left");
      expect_elements<T>(run("shift_right", {}, row_of(a), row_of(b)), right, 0, "shift_right");
    }
  });
}

TEST(EagerElementwise, SignAndExtremesKeepNanAndSignedZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(run("sign", {}, Tensor(nan)).item()));
  EXPECT_TRUE(std::signbit(run("sign", {}, Tensor(-0.0f)).item()));
  for (const char* name : {"max", "min"}) {
    EXPECT_TRUE(std::isnan(run(name, {}, Tensor(nan), Tensor(1.0f)).item()));
    EXPECT_TRUE(std::isnan(run(name, {}, Tensor(1.0f), Tensor(nan)).item()));
  }
  EXPECT_EQ(elements<float>(run("round", {}, row_of<float>({0.5f, 1.5f, 2.5f, -0.5f}))),
            (std::vector<float>{0, 2, 2, -0.0f}));
  EXPECT_EQ(elements<bool>(run("is_finite", {}, row_of<float>({1, nan, HUGE_VALF, -HUGE_VALF}))),
            (std::vector<bool>{true, false, false, false}));
}

TEST(EagerElementwise, ScaleIsZeroWhereverAFactorIs) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(elements<double>(run("scale", {}, row_of<double>({inf, nan, 0, -0.0, 2}),
                                 row_of<double>({0, 0, inf, nan, 3}))),
            (std::vector<double>{0, 0, 0, 0, 6}));
}

TEST(EagerElementwise, SixteenBitFloatsRoundOncePerStep) {
  // 1 + 2^-8 + 2^-8 in bf16 (7 bits): each addition is rounded, to even.
  const Tensor one = tensor(1.0f, bf16);
  const Tensor half_step = tensor(0x1p-8f, bf16);
  EXPECT_EQ(run("add", {}, run("add", {}, one, half_step), half_step).item(), 1.0);
  EXPECT_EQ(run("mul", {}, tensor(60000.0f, f16), tensor(2.0f, f16)).item(),
            std::numeric_limits<double>::infinity());
}

TEST(EagerElementwise, ConversionsSaturateTruncateAndWrap) {
  const auto convert = [](const Tensor& x, Dtype to) {
    return run("convert", {{"dtype", {to}}}, x);
  };
  EXPECT_EQ(convert(Tensor(300.0f), u8).item<int>(), 255);
  EXPECT_EQ(convert(Tensor(-300.0f), u8).item<int>(), 0);
  EXPECT_EQ(convert(Tensor(std::numeric_limits<float>::quiet_NaN()), i32).item<int>(), 0);
  EXPECT_EQ(convert(Tensor(HUGE_VALF), i32).item<int>(), INT32_MAX);
  EXPECT_EQ(convert(Tensor(-2.9), i32).item<int>(), -2);
  EXPECT_EQ(convert(Tensor(300), u8).item<int>(), 44);
  EXPECT_EQ(convert(Tensor(0.5), bool_).item<int>(), 1);
}

template <Element To, Element From>
To reference_convert(From value) {
  if constexpr (std::same_as<To, bool>) {
    return wide(value) != 0;
  } else if constexpr (dtype_of<From>().is_float() && !dtype_of<To>().is_float()) {
    const long double x = wide(value);
    if (std::isnan(x)) return 0;
    if (x >= static_cast<long double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    if (x <= static_cast<long double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return narrow<To>(static_cast<Wide<To>>(wide(value)));
  }
}

TEST(EagerElementwise, EveryDtypeConvertsToEveryOther) {
  Random random(4);
  for_each_dtype(every_dtype, [&]<class From>() {
    for_each_dtype(every_dtype, [&]<class To>() {
      for (int round = 0; round < 10; ++round) {
        const Tensor x = random_tensor<From>(random, random_shape(random));
        std::vector<To> want;
        for (From value : elements<From>(x)) want.push_back(reference_convert<To>(value));
        expect_elements<To>(run("convert", {{"dtype", {dtype_of<To>()}}}, x), want, 0, "convert");
      }
    });
  });
}

TEST(EagerElementwise, BitcastKeepsBitsAndSharesTheBuffer) {
  const Tensor x = row_of<float>({1.0f, -0.0f, 3.5f});
  const Tensor y = run("bitcast", {{"dtype", {u32}}}, x);
  EXPECT_EQ(elements<std::uint32_t>(y),
            (std::vector<std::uint32_t>{0x3f800000u, 0x80000000u, 0x40600000u}));
  EXPECT_EQ(y.array().buffer, x.array().buffer);
  EXPECT_TRUE(array_equal(run("bitcast", {{"dtype", {f32}}}, y), x));
  EXPECT_EQ(run("bitcast", {{"dtype", {bf16}}}, tensor(1.5f, bf16)).item(), 1.5);
}

TEST(EagerElementwise, SelectTakesElementsOfEitherOperand) {
  Random random(5);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (int round = 0; round < 20; ++round) {
      const Shape shape = random_shape(random);
      const Tensor condition = random_tensor<bool>(random, shape);
      const Tensor a = random_tensor<T>(random, shape);
      const Tensor b = random_tensor<T>(random, shape);
      std::vector<T> want;
      for (const Shape& index : indices_of(shape))
        want.push_back(element<T>(element<bool>(condition, index) ? a : b, index));
      expect_elements<T>(run("select", {}, condition, a, b), want, 0, "select");
    }
  });
}

}  // namespace
}  // namespace hom::testing
