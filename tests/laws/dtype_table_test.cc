// tests/laws/dtype_table_test.cc -- the promotion table written out, and casts between all dtypes
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

// clang-format off
constexpr std::array<std::array<Dtype, 11>, 11> table{{
    //               bool    i8   i32   i64    u8   u32   u64   f16  bf16   f32   f64
    /* bool */ {{   bool_,   i8,  i32,  i64,   u8,  u32,  u64,  f16, bf16,  f32,  f64}},
    /*   i8 */ {{      i8,   i8,  i32,  i64,  i32,  i64,  i64,  f16, bf16,  f32,  f64}},
    /*  i32 */ {{     i32,  i32,  i32,  i64,  i32,  i64,  i64,  f16, bf16,  f32,  f64}},
    /*  i64 */ {{     i64,  i64,  i64,  i64,  i64,  i64,  i64,  f16, bf16,  f32,  f64}},
    /*   u8 */ {{      u8,  i32,  i32,  i64,   u8,  u32,  u64,  f16, bf16,  f32,  f64}},
    /*  u32 */ {{     u32,  i64,  i64,  i64,  u32,  u32,  u64,  f16, bf16,  f32,  f64}},
    /*  u64 */ {{     u64,  i64,  i64,  i64,  u64,  u64,  u64,  f16, bf16,  f32,  f64}},
    /*  f16 */ {{     f16,  f16,  f16,  f16,  f16,  f16,  f16,  f16,  f32,  f32,  f64}},
    /* bf16 */ {{    bf16, bf16, bf16, bf16, bf16, bf16, bf16,  f32, bf16,  f32,  f64}},
    /*  f32 */ {{     f32,  f32,  f32,  f32,  f32,  f32,  f32,  f32,  f32,  f32,  f64}},
    /*  f64 */ {{     f64,  f64,  f64,  f64,  f64,  f64,  f64,  f64,  f64,  f64,  f64}},
}};

/// A tensor with a C++ number, which is weak.
constexpr std::array<std::array<Dtype, 6>, 11> weak_table{{
    //             true    1   1LL   1u  0.5f  0.5
    /* bool */ {{ bool_,  i32,  i64,  u32,  f32,  f64}},
    /*   i8 */ {{    i8,   i8,   i8,   i8,  f32,  f64}},
    /*  i32 */ {{   i32,  i32,  i32,  i32,  f32,  f64}},
    /*  i64 */ {{   i64,  i64,  i64,  i64,  f32,  f64}},
    /*   u8 */ {{    u8,   u8,   u8,   u8,  f32,  f64}},
    /*  u32 */ {{   u32,  u32,  u32,  u32,  f32,  f64}},
    /*  u64 */ {{   u64,  u64,  u64,  u64,  f32,  f64}},
    /*  f16 */ {{   f16,  f16,  f16,  f16,  f16,  f16}},
    /* bf16 */ {{  bf16, bf16, bf16, bf16, bf16, bf16}},
    /*  f32 */ {{   f32,  f32,  f32,  f32,  f32,  f32}},
    /*  f64 */ {{   f64,  f64,  f64,  f64,  f64,  f64}},
}};
// clang-format on

std::string pair_name(Dtype a, Dtype b) { return to_string(a) + " with " + to_string(b); }

TEST(DtypeTable, promote_is_the_table) {
  for (std::size_t i = 0; i < all_dtypes.size(); ++i) {
    for (std::size_t j = 0; j < all_dtypes.size(); ++j) {
      EXPECT_EQ(to_string(promote(all_dtypes[i], all_dtypes[j])), to_string(table[i][j]))
          << pair_name(all_dtypes[i], all_dtypes[j]);
    }
  }
}

TEST(DtypeTable, promotion_commutes_and_is_idempotent) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i][i], all_dtypes[i]);
    for (std::size_t j = 0; j < table.size(); ++j)
      EXPECT_EQ(table[i][j], table[j][i]) << pair_name(all_dtypes[i], all_dtypes[j]);
  }
}

TEST(DtypeTable, results_of_operations_have_the_dtype_of_the_table) {
  for (std::size_t i = 0; i < all_dtypes.size(); ++i) {
    for (std::size_t j = 0; j < all_dtypes.size(); ++j) {
      const Tensor x = full({2}, 1, all_dtypes[i]);
      const Tensor y = full({2}, 1, all_dtypes[j]);
      const std::string name = pair_name(all_dtypes[i], all_dtypes[j]);
      const std::string want = to_string(table[i][j]);
      EXPECT_EQ(to_string(where(x == y, x, y).dtype()), want) << name;
      EXPECT_EQ(to_string(concat({x, y}, 0).dtype()), want) << name;
      EXPECT_EQ((x == y).dtype(), bool_) << name;
      if (table[i][j].is_bool()) {
        EXPECT_THROW(x + y, Error) << "bool is no number";
        continue;
      }
      EXPECT_EQ(to_string((x + y).dtype()), want) << name;
      EXPECT_EQ(to_string((x * y).dtype()), want) << name;
      EXPECT_EQ((x + y).to_vector(), (std::vector{2.0, 2.0})) << name;
      const Program symbolic = program([](Tensor a, Tensor b) { return a - b; }, x, y);
      EXPECT_EQ(to_string(symbolic.output_types()[0].dtype), want) << name;
    }
  }
}

TEST(DtypeTable, numbers_are_weak) {
  const auto check = [](std::size_t j, auto number) {
    const Dtype own = dtype_of<decltype(number)>();
    for (std::size_t i = 0; i < all_dtypes.size(); ++i) {
      const std::string name = pair_name(all_dtypes[i], own) + " as a number";
      const std::string want = to_string(weak_table[i][j]);
      EXPECT_EQ(to_string(promote_weak(all_dtypes[i], own)), want) << name;
      const Tensor x = full({2}, 1, all_dtypes[i]);
      EXPECT_EQ(to_string(where(x == x, x, number).dtype()), want) << name;
      EXPECT_EQ(to_string(where(x == x, number, x).dtype()), want) << name;
      if (weak_table[i][j].is_bool()) continue;
      EXPECT_EQ(to_string((x + number).dtype()), want) << name;
      EXPECT_EQ(to_string((number + x).dtype()), want) << name;
      const Program symbolic = program([number](Tensor a) { return number * a; }, x);
      EXPECT_EQ(to_string(symbolic.output_types()[0].dtype), want) << name;
    }
  };
  check(0, true);
  check(1, 1);
  check(2, std::int64_t{1});
  check(3, 1u);
  check(4, 0.5f);
  check(5, 0.5);
}

TEST(DtypeTable, numbers_that_do_not_fit_are_refused) {
  EXPECT_THROW(full({2}, 1, i8) + 200, Error);
  EXPECT_THROW(full({2}, 1, u8) + -1, Error);
  EXPECT_THROW(full({2}, 1, i32) * 3000000000LL, Error);
  EXPECT_EQ((full({1}, 1, u8) + 200).to_vector<int>(), (std::vector{201}));
}

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

template <Element T>
void expect_floats_become(Dtype from, const std::vector<double>& values,
                          const std::vector<T>& want) {
  const Tensor x = tensor(values).astype(from);
  const Tensor got = x.astype(dtype_of<T>());
  ASSERT_EQ(got.dtype(), dtype_of<T>());
  EXPECT_EQ(got.to_vector<T>(), want) << to_string(from) << " to " << to_string(dtype_of<T>());
  // The same in a program.
  const Program cast = program([](Tensor t) { return t.astype(dtype_of<T>()); }, x);
  EXPECT_EQ(evaluate(cast, {x})[0].to_vector<T>(), want)
      << to_string(from) << " to " << to_string(dtype_of<T>());
}

TEST(DtypeTable, floats_become_integers_by_truncation_and_saturation) {
  constexpr auto least32 = std::numeric_limits<std::int32_t>::min();
  constexpr auto most32 = std::numeric_limits<std::int32_t>::max();
  constexpr auto least64 = std::numeric_limits<std::int64_t>::min();
  constexpr auto most64 = std::numeric_limits<std::int64_t>::max();
  const std::vector<double> small{2.75, -2.75, 0.5, -0.5, -0.0, infinity, -infinity, nan};
  for (Dtype from : {f16, bf16, f32, f64}) {
    expect_floats_become<std::int8_t>(from, small, {2, -2, 0, 0, 0, 127, -128, 0});
    expect_floats_become<std::int32_t>(from, small, {2, -2, 0, 0, 0, most32, least32, 0});
    expect_floats_become<std::int64_t>(from, small, {2, -2, 0, 0, 0, most64, least64, 0});
    expect_floats_become<std::uint8_t>(from, small, {2, 0, 0, 0, 0, 255, 0, 0});
    expect_floats_become<std::uint32_t>(from, small, {2, 0, 0, 0, 0, UINT32_MAX, 0, 0});
    expect_floats_become<std::uint64_t>(from, small, {2, 0, 0, 0, 0, UINT64_MAX, 0, 0});
    expect_floats_become<bool>(from, small, {true, true, true, true, false, true, true, true});
  }
  const std::vector<double> large{300.5, -300.5, 1e10, -1e10, 1e20, -1e20};
  for (Dtype from : {f32, f64}) {
    expect_floats_become<std::int8_t>(from, large, {127, -128, 127, -128, 127, -128});
    expect_floats_become<std::int32_t>(from, large, {300, -300, most32, least32, most32, least32});
    expect_floats_become<std::int64_t>(from, large,
                                       {300, -300, 10000000000, -10000000000, most64, least64});
    expect_floats_become<std::uint8_t>(from, large, {255, 0, 255, 0, 255, 0});
    expect_floats_become<std::uint32_t>(from, large, {300, 0, UINT32_MAX, 0, UINT32_MAX, 0});
    expect_floats_become<std::uint64_t>(from, large, {300, 0, 10000000000u, 0, UINT64_MAX, 0});
  }
  // Around the ends: 2³¹ − 1 and 2³¹ in f64; 2⁶³ and the float below it.
  expect_floats_become<std::int32_t>(f64,
                                     {2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0},
                                     {most32, most32, least32, least32});
  expect_floats_become<std::int64_t>(
      f64, {9223372036854775808.0, 9223372036854774784.0, -9223372036854775808.0},
      {most64, 9223372036854774784, least64});
  expect_floats_become<std::uint64_t>(f64, {18446744073709551616.0, 18446744073709549568.0, -1.0},
                                      {UINT64_MAX, 18446744073709549568u, 0});
}

template <Element From, Element To>
void expect_becomes(const std::vector<From>& values, const std::vector<To>& want) {
  const Tensor x = tensor(values, Shape{static_cast<std::int64_t>(values.size())});
  EXPECT_EQ(x.astype(dtype_of<To>()).template to_vector<To>(), want)
      << to_string(dtype_of<From>()) << " to " << to_string(dtype_of<To>());
}

TEST(DtypeTable, integers_wrap_into_integers) {
  const std::vector<std::int64_t> values{300, -1, 4294967301,
                                         std::numeric_limits<std::int64_t>::min()};
  expect_becomes<std::int64_t, std::int8_t>(values, {44, -1, 5, 0});
  expect_becomes<std::int64_t, std::int32_t>(values, {300, -1, 5, 0});
  expect_becomes<std::int64_t, std::uint8_t>(values, {44, 255, 5, 0});
  expect_becomes<std::int64_t, std::uint32_t>(values, {300, 4294967295u, 5, 0});
  expect_becomes<std::int64_t, std::uint64_t>(values,
                                              {300, UINT64_MAX, 4294967301u, 9223372036854775808u});
  expect_becomes<std::int64_t, bool>(values, {true, true, true, true});
  expect_becomes<std::uint64_t, std::int64_t>({UINT64_MAX, 5}, {-1, 5});
  expect_becomes<std::uint8_t, std::int8_t>({200, 5}, {-56, 5});
  expect_becomes<std::int8_t, std::uint64_t>({-1, 5}, {UINT64_MAX, 5});
  expect_becomes<std::int32_t, bool>({0, 256, -1}, {false, true, true});
  for (Dtype to : all_dtypes) {
    EXPECT_EQ(tensor({true, false}).astype(to).to_vector(), (std::vector{1.0, 0.0}))
        << to_string(to);
  }
}

TEST(DtypeTable, numbers_round_to_the_nearest_float_with_ties_to_even) {
  expect_becomes<std::int64_t, float>({16777217, 16777219, -16777217},
                                      {16777216.0f, 16777220.0f, -16777216.0f});
  expect_becomes<std::int64_t, double>({9007199254740993, 9007199254740995},
                                       {9007199254740992.0, 9007199254740996.0});
  expect_becomes<std::uint64_t, double>({UINT64_MAX}, {18446744073709551616.0});
  const auto as = [](Dtype dtype, const std::vector<double>& values) {
    return tensor(values).astype(dtype).to_vector();
  };
  EXPECT_EQ(as(f32, {0.1, 1e40, -1e40, 1e-50}),
            (std::vector{0.10000000149011612, infinity, -infinity, 0.0}));
  EXPECT_EQ(
      as(f16, {0.1, 65504, 65519, 65520, 70000, 1e-9, 2049, 2051}),
      (std::vector{0.0999755859375, 65504.0, 65504.0, infinity, infinity, 0.0, 2048.0, 2052.0}));
  EXPECT_EQ(as(bf16, {0.1, 257, 259, 1e39, 3.3e38}),
            (std::vector{0.10009765625, 256.0, 260.0, infinity, 248 * 0x1p120}));
  EXPECT_EQ(full({1}, 70000, i32).astype(f16).item(), infinity);
  // Rounded once, not to f32 first: 1 + 2⁻¹¹ + 2⁻⁴⁰ lies above the middle between 1 and the next
  // f16.
  EXPECT_EQ(as(f16, {1 + 0x1p-11 + 0x1p-40}), (std::vector{1 + 0x1p-10}));
  EXPECT_EQ(as(bf16, {1 + 0x1p-8 + 0x1p-40}), (std::vector{1 + 0x1p-7}));
}

TEST(DtypeTable, widening_and_back_is_identity) {
  for (Dtype from : {f16, bf16, f32}) {
    const Tensor x = tensor({0.1, -3.0, 1e-7, infinity, -0.0}).astype(from);
    EXPECT_TRUE(array_equal(x.astype(f64).astype(from), x)) << to_string(from);
    EXPECT_TRUE(array_equal(x.astype(f32).astype(from), x)) << to_string(from);
  }
  const Tensor integer = tensor({-128, 127, 0}).astype(i8);
  for (Dtype through : {i32, i64, f16, bf16, f32, f64}) {
    EXPECT_TRUE(array_equal(integer.astype(through).astype(i8), integer)) << to_string(through);
  }
}

}  // namespace
}  // namespace hom
