// tests/unit/optimise_arithmetic_test.cc -- the rules of floats and of powers, one by one
#include "optimise_support.h"

namespace hom {
namespace {

constexpr const char* f = "f32[4]";
constexpr const char* pass = "arithmetic";

TEST(OptimiseArithmetic, sum_with_a_negative_is_a_difference) {
  expect_rule(pass, f, "x, y", "m = neg(y); add(x, m)", "sub(x, y)");
  expect_rule(pass, f, "x, y", "m = neg(x); add(m, y)", "sub(y, x)");
  expect_rule(pass, f, "x, y", "m = neg(x); n = neg(y); add(m, n)", "m = neg(x); sub(m, y)");
  expect_rule(pass, "i8[2]", "x, y", "m = neg(y); add(x, m)", "sub(x, y)");
  expect_rule(pass, "u8[2]", "x, y", "m = neg(y); add(x, m)", "sub(x, y)");
}

TEST(OptimiseArithmetic, difference_with_a_negative_is_a_sum) {
  expect_rule(pass, f, "x, y", "m = neg(y); sub(x, m)", "add(x, y)");
  expect_stays(pass, f, "x, y", "m = neg(x); sub(m, y)");
}

TEST(OptimiseArithmetic, difference_from_minus_zero_is_the_negative) {
  expect_rule(pass, f, "x", "z = -0.0; sub(z, x)", "neg(x)");
  expect_rule(pass, "i32[]", "x", "z = 0; sub(z, x)", "neg(x)");
  expect_stays(pass, f, "x", "z = 0.0; sub(z, x)");  // 0 − 0 = 0, and −0 is not
}

TEST(OptimiseArithmetic, signs_of_factors) {
  for (const char* op : {"mul", "div"}) {
    const auto call = [&](const char* operands) { return std::string(op) + operands; };
    expect_rule(pass, f, "x, y", "m = neg(x); n = neg(y); " + call("(m, n)"), call("(x, y)"));
    expect_rule(pass, f, "x, y", "m = neg(x); " + call("(m, y)"),
                "p = " + call("(x, y)") + "; neg(p)");
    expect_rule(pass, f, "x, y", "n = neg(y); " + call("(x, n)"),
                "p = " + call("(x, y)") + "; neg(p)");
    expect_stays(pass, f, "x, y", "m = neg(y); p = " + call("(x, m)") + "; return m, p");
    expect_rule(pass, f, "x", "m = neg(x); c = 3.0; " + call("(m, c)"),
                "c = 3.0; d = -3.0; " + call("(x, d)"));
  }
  expect_rule(pass, "i32[2]", "x, y", "m = neg(x); n = neg(y); mul(m, n)", "mul(x, y)");
  expect_stays(pass, "i32[2]", "x, y", "m = neg(x); n = neg(y); div(m, n)");
}

TEST(OptimiseArithmetic, negative_of_a_multiple) {
  expect_rule(pass, f, "x", "c = 3.0; p = mul(x, c); neg(p)", "c = 3.0; d = -3.0; mul(x, d)");
  expect_rule(pass, f, "x", "c = 3.0; p = div(c, x); neg(p)", "c = 3.0; d = -3.0; div(d, x)");
  expect_stays(pass, f, "x", "c = 3.0; p = mul(x, c); n = neg(p); return p, n");
}

TEST(OptimiseArithmetic, quotient_by_a_power_of_two_is_a_product) {
  expect_rule(pass, f, "x", "c = 4.0; div(x, c)", "c = 4.0; d = 0.25; mul(x, d)");
  expect_rule(pass, f, "x", "c = -0.5; div(x, c)", "c = -0.5; d = -2.0; mul(x, d)");
  expect_stays(pass, f, "x", "c = 3.0; div(x, c)");
  expect_stays(pass, f, "x", "c = 1.7014118346046923e+38; div(x, c)");  // 2¹²⁷: 2⁻¹²⁷ is not normal
  expect_stays(pass, f, "x", "c = 0.0; div(x, c)");
  expect_stays(pass, f, "x", "c = inf; div(x, c)");
}

TEST(OptimiseArithmetic, reciprocal_root) {
  expect_rule(pass, f, "x", "c = 1.0; r = sqrt(x); div(c, r)", "rsqrt(x)");
  expect_stays(pass, "f16[2]", "x", "c = 1.0; r = sqrt(x); div(c, r)");
  expect_stays(pass, f, "x", "c = 1.0; r = sqrt(x); q = div(c, r); return r, q");
}

TEST(OptimiseArithmetic, guard_of_scale_goes_where_a_factor_is_finite_and_not_zero) {
  expect_rule(pass, f, "x, t: bool[4]", "a = convert(t) {dtype = f32}; b = tanh(a); scale(a, b)",
              "a = convert(t) {dtype = f32}; b = tanh(a); mul(a, b)");
  expect_stays(pass, f, "x, t: bool[4]", "a = convert(t) {dtype = f32}; scale(x, a)");
  expect_stays(pass, f, "x, y", "scale(x, y)");
}

TEST(OptimiseArithmetic, adding_zero_to_what_is_never_minus_zero) {
  expect_rule(pass, f, "x", "z = 0.0; a = abs(x); add(a, z)", "abs(x)");
  expect_rule(pass, "f32[]", "x: f32[4]", "z = 0.0; s = reduce_sum(x) {axes = [0]}; add(s, z)",
              "reduce_sum(x) {axes = [0]}");
  expect_rule(pass, f, "x", "z = 0.0; a = add(x, z); add(a, z)", "z = 0.0; add(x, z)");
  expect_stays(pass, f, "x", "z = 0.0; add(x, z)");
  expect_rule(pass, f, "x, y", "z = 0.0; a = abs(x); b = add(y, z); add(a, b)",
              "a = abs(x); add(y, a)");
}

TEST(OptimiseArithmetic, magnitudes) {
  expect_rule(pass, f, "x", "m = neg(x); abs(m)", "abs(x)");
  expect_rule(pass, f, "x", "e = exp(x); abs(e)", "exp(x)");
  expect_rule(pass, f, "x", "a = abs(x); mul(a, a)", "mul(x, x)");
  expect_stays(pass, f, "x", "e = sqrt(x); abs(e)");                // √−0 = −0
  expect_rule(pass, "u8[2]", "x", "m = neg(x); abs(m)", "neg(x)");  // never below 0
}

TEST(OptimiseArithmetic, rounding_of_what_is_whole) {
  expect_rule(pass, f, "x", "a = floor(x); round(a)", "floor(x)");
  expect_rule(pass, f, "i: i32[4]", "a = convert(i) {dtype = f32}; ceil(a)",
              "convert(i) {dtype = f32}");
}

TEST(OptimiseArithmetic, extremes) {
  expect_rule(pass, f, "x, y", "m = max(x, y); max(m, x)", "max(x, y)");
  expect_rule(pass, f, "x, y", "m = max(x, y); max(m, y)", "max(x, y)");
  expect_rule(pass, f, "x, y", "m = min(x, y); min(x, m)", "min(x, y)");
  expect_stays(pass, f, "x, y",
               "m = max(x, y); max(y, m)");  // max(0, max(−0, 0)) is not max(−0, 0)
  expect_rule(pass, "i32[2]", "x, y", "m = max(x, y); max(y, m)", "max(x, y)");
  expect_rule(pass, f, "x", "a = 1.0; b = 2.0; m = max(x, a); max(m, b)",
              "a = 1.0; b = 2.0; max(x, b)");
  expect_rule(pass, f, "x", "a = 1.0; b = 2.0; m = min(x, a); min(m, b)",
              "a = 1.0; b = 2.0; min(x, a)");
  expect_stays(pass, f, "x", "a = 1.0; b = nan; m = max(x, a); max(m, b)");
}

TEST(OptimiseArithmetic, is_finite_of_what_always_is) {
  expect_rule(pass, "bool[4]", "i: i32[4]", "a: f32[4] = convert(i) {dtype = f32}; is_finite(a)",
              "true_ = true");
  expect_stays(pass, "bool[4]", "i: i32[4]", "a: f16[4] = convert(i) {dtype = f16}; is_finite(a)");
}

TEST(OptimiseArithmetic, operands_of_commutative_steps_are_in_order) {
  expect_rule(pass, f, "x, y", "a = mul(x, y); b = mul(y, x); return a, b",
              "a = mul(x, y); return a, a");
}

TEST(OptimisePowers, exact_ones) {
  expect_rule("powers", f, "x", "n = 0.0; pow(x, n)", "c = 1.0");
  expect_rule("powers", "i32[2]", "x", "n = 5; pow(x, n)",
              "a = mul(x, x); b = mul(a, a); mul(x, b)");
  expect_rule("powers", "i32[2]", "x", "n = 0; pow(x, n)", "c = 1");
  expect_stays("powers", "i32[2]", "x, y", "pow(x, y)");
}

TEST(OptimisePowers, rounded_ones) {
  expect_reassociated("powers", f, "x", "n = 2.0; pow(x, n)", "mul(x, x)");
  expect_reassociated("powers", f, "x", "n = 3.0; pow(x, n)", "a = mul(x, x); mul(x, a)");
  expect_reassociated("powers", f, "x", "n = -1.0; pow(x, n)", "c = 1.0; div(c, x)");
  expect_reassociated("powers", f, "x", "n = -2.0; pow(x, n)", "a = mul(x, x); c = 1.0; div(c, a)");
  expect_reassociated("powers", f, "x", "e = exp(x); n = 0.5; pow(e, n)", "e = exp(x); sqrt(e)");
  expect_reassociated("powers", f, "x", "e = exp(x); n = -0.5; pow(e, n)", "e = exp(x); rsqrt(e)");
  expect_stays("powers", f, "x", "n = 0.5; pow(x, n)", {.reassociate = true});
  expect_stays("powers", f, "x", "n = 17.0; pow(x, n)", {.reassociate = true});
}

}  // namespace
}  // namespace hom
