// tests/unit/optimise_integers_test.cc -- the rules of integers, bits, comparisons and conversions,
// one by one
#include "optimise_support.h"

namespace hom {
namespace {

constexpr const char* i = "i32[3]";
constexpr const char* b = "bool[3]";

TEST(OptimiseIntegers, a_ring) {
  expect_rule("integers", i, "x", "c = 5; sub(x, c)", "c = -5; add(x, c)");
  expect_rule("integers", "u8[3]", "x", "c = 5; sub(x, c)", "c = 251; add(x, c)");
  expect_rule("integers", i, "x", "c = 0; mul(x, c)", "c = 0");
  expect_rule("integers", i, "x", "a = 5; c = 7; s = add(x, a); add(s, c)", "a = 12; add(x, a)");
  expect_rule("integers", "i8[3]", "x", "a = 100; c = 3; s = mul(x, a); mul(c, s)",
              "a = 44; mul(x, a)");
  expect_rule("integers", i, "x", "sub(x, x)", "c = 0");
  expect_rule("integers", i, "x, y", "s = add(x, y); sub(s, y)", "x");
  expect_rule("integers", i, "x, y", "d = sub(x, y); add(d, y)", "x");
  expect_rule("integers", i, "x", "n = neg(x); add(x, n)", "c = 0");
  expect_stays("integers", "f32[3]", "x", "sub(x, x)");
  expect_stays("integers", "f32[3]", "x", "c = 0.0; mul(x, c)");
}

TEST(OptimiseIntegers, division_by_powers_of_two) {
  expect_rule("integers", i, "x", "c = 8; div(x, c)", "c = 8; k = 3; shift_right(x, k)");
  expect_rule("integers", i, "x", "c = 8; rem(x, c)", "c = 8; k = 7; and(x, k)");
  expect_rule("integers", "u64[3]", "x", "c = 9223372036854775808u; div(x, c)",
              "k = 63u; shift_right(x, k)");
  expect_stays("integers", i, "x", "c = -8; div(x, c)");
  expect_stays("integers", i, "x", "c = 0; div(x, c)");
  expect_stays("integers", i, "x", "c = 6; rem(x, c)");
  expect_rule("integers", i, "x, y", "r = rem(x, y); rem(r, y)", "rem(x, y)");
}

TEST(OptimiseIntegers, shifts_extremes_and_bits) {
  expect_rule("integers", i, "x", "c = 0; shift_left(x, c)", "x");
  expect_rule("integers", i, "x", "c = 0; shift_right(c, x)", "c = 0");
  expect_rule("integers", "u8[3]", "x", "c = 0; max(x, c)", "x");
  expect_rule("integers", "i8[3]", "x", "c = 127; max(x, c)", "c = 127");
  expect_rule("integers", i, "x, y", "m = min(x, y); max(x, m)", "x");
  expect_rule("integers", i, "x, y", "m = or(x, y); and(m, y)", "y");
  expect_rule("integers", i, "x", "c = -1; and(x, c)", "x");
  expect_rule("integers", i, "x", "c = 0; or(x, c)", "x");
  expect_rule("integers", i, "x", "c = -1; xor(x, c)", "not(x)");
  expect_rule("integers", b, "x", "c = true; or(x, c)", "c = true");
  expect_rule("integers", b, "x", "c = false; xor(x, c)", "x");
  expect_rule("integers", i, "x", "xor(x, x)", "c = 0");
  expect_rule("integers", i, "x", "n = not(x); or(x, n)", "c = -1");
  expect_rule("integers", b, "x", "n = not(x); and(x, n)", "c = false");
  expect_rule("integers", b, "x, y", "a = and(x, y); and(a, y)", "and(x, y)");
  expect_stays("integers", "f32[3]", "x, y", "m = min(x, y); max(x, m)");
}

TEST(OptimiseLogic, comparisons) {
  expect_rule("logic", b, "x: f32[3], y: f32[3]", "t = eq(x, y); not(t)", "ne(x, y)");
  expect_stays("logic", b, "x: f32[3], y: f32[3]", "t = lt(x, y); not(t)");
  expect_rule("logic", b, "x: i32[3], y: i32[3]", "t = lt(x, y); not(t)", "le(y, x)");
  expect_rule("logic", b, "x: f32[3]", "lt(x, x)", "c = false");
  expect_stays("logic", b, "x: f32[3]", "eq(x, x)");
  expect_rule("logic", b, "x: i32[3]", "ge(x, x)", "c = true");
  expect_rule("logic", b, "x: i32[3]", "ne(x, x)", "c = false");
  expect_rule("logic", b, "x: f32[3], y: f32[3]", "gt(x, y)", "lt(y, x)");
  expect_rule("logic", b, "x", "c = true; eq(x, c)", "x");
  expect_rule("logic", b, "x", "c = true; ne(x, c)", "not(x)");
  expect_rule("logic", b, "x", "n: f32[3] = convert(x) {dtype = f32}; c: f32[3] = 0.0; ne(n, c)",
              "x");
}

TEST(OptimiseLogic, choices) {
  const char* f = "f32[3]";
  const char* in = "c: bool[3], x, y, z";
  expect_rule("logic", f, in, "n: bool[3] = not(c); select(n, x, y)", "select(c, y, x)");
  expect_rule("logic", f, in, "s = select(c, x, y); select(c, s, z)", "select(c, x, z)");
  expect_rule("logic", f, in, "s = select(c, x, y); select(c, z, s)", "select(c, z, y)");
  expect_rule("logic", f, in, "o = 1.0; n = 0.0; select(c, o, n)", "convert(c) {dtype = f32}");
  expect_stays("logic", f, in, "o = 1.0; n = -0.0; select(c, o, n)");
  expect_rule("logic", b, "c, x", "n = false; select(c, x, n)", "and(c, x)");
  expect_rule("logic", b, "c, x", "n = true; select(c, n, x)", "or(c, x)");
  expect_rule("logic", i, "x, y", "e: bool[3] = eq(x, y); select(e, x, y)", "y");
  expect_stays("logic", f, "x, y", "e: bool[3] = eq(x, y); select(e, x, y)");
  expect_rule("logic", i, "x, y", "e: bool[3] = lt(x, y); select(e, x, y)", "min(x, y)");
  expect_rule("logic", i, "x, y", "e: bool[3] = le(x, y); select(e, y, x)", "max(x, y)");
  expect_stays("logic", f, "x, y", "e: bool[3] = lt(x, y); select(e, x, y)");
}

TEST(OptimiseConversions, chains) {
  expect_rule("conversions", "f32[3]", "x",
              "w: f64[3] = convert(x) {dtype = f64}; convert(w) {dtype = f32}", "x");
  expect_rule("conversions", "i32[3]", "x: u8[3]",
              "w: f32[3] = convert(x) {dtype = f32}; convert(w) {dtype = i32}",
              "convert(x) {dtype = i32}");
  // −1 wraps to 255 as an integer, and saturates to 0 as a float.
  expect_stays("conversions", "u8[3]", "x: i8[3]",
               "w: f32[3] = convert(x) {dtype = f32}; convert(w) {dtype = u8}");
  expect_stays("conversions", "f32[3]", "x",
               "w: f16[3] = convert(x) {dtype = f16}; convert(w) {dtype = f32}");
  expect_stays("conversions", "i64[3]", "x: i64[3]",
               "w: f64[3] = convert(x) {dtype = f64}; convert(w) {dtype = i64}");
  expect_rule("conversions", "f32[3]", "x",
              "w: i32[3] = bitcast(x) {dtype = i32}; bitcast(w) {dtype = f32}", "x");
  expect_rule("conversions", "f32[3]", "x", "s = stop_gradient(x); exp(s)", "exp(x)");
  expect_rule("conversions", "f32[3]", "t: bool[3]", "n = convert(t) {dtype = f32}; sign(n)",
              "convert(t) {dtype = f32}");
}

}  // namespace
}  // namespace hom
