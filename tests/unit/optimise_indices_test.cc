// tests/unit/optimise_indices_test.cc -- the rules of reads at positions, of contractions, of named
// functions and of reassociation, one by one
#include "optimise_support.h"

namespace hom {
namespace {

TEST(OptimiseIndices, lookups) {
  expect_rule("indices", "i64[4]", "i: i32[4, 1]",
              "n: i64[9] = iota {dtype = i64, shape = [9], axis = 0}; "
              "gather(n, i) {axes = [0], mode = \"clip\"}",
              "j: i32[4] = reshape(i) {shape = [4]}; z: i32[4] = 0; a: i32[4] = max(j, z); "
              "l: i32[4] = 8; b: i32[4] = min(a, l); convert(b) {dtype = i64}");
  expect_rule("indices", "i64[4]", "i: u8[4, 1]",
              "n: i64[300] = iota {dtype = i64, shape = [300], axis = 0}; "
              "gather(n, i) {axes = [0], mode = \"clip\"}",
              "j: u8[4] = reshape(i) {shape = [4]}; convert(j) {dtype = i64}");
  expect_stays("indices", "i64[4]", "i: i32[4, 1]",
               "n: i64[9] = iota {dtype = i64, shape = [9], axis = 0}; "
               "gather(n, i) {axes = [0], mode = \"check\"}");
  expect_rule("indices", "f32[4, 3]", "x: f32[3], i: i32[4, 1]",
              "a: f32[9, 3] = broadcast_in_dim(x) {shape = [9, 3], axes = [1]}; "
              "gather(a, i) {axes = [0], mode = \"clip\"}",
              "broadcast_in_dim(x) {shape = [4, 3], axes = [1]}");
}

TEST(OptimiseIndices, known_positions) {
  expect_rule("indices", "f32[4, 3]", "x: f32[9, 3]",
              "i: i32[4, 1] = 5; gather(x, i) {axes = [0], mode = \"check\"}",
              "a: f32[1, 3] = slice(x) {start = [5, 0], size = [1, 3], step = [1, 1]}; "
              "b: f32[3] = reshape(a) {shape = [3]}; "
              "broadcast_in_dim(b) {shape = [4, 3], axes = [1]}");
  expect_stays("indices", "f32[4, 3]", "x: f32[9, 3]",
               "i: i32[4, 1] = 9; gather(x, i) {axes = [0], mode = \"check\"}");
  expect_rule("indices", "f32[9]", "x, u: f32[]",
              "i: i32[1] = 5; scatter(x, i, u) {axes = [0], combine = \"add\", mode = \"drop\"}",
              "v: f32[1] = reshape(u) {shape = [1]}; "
              "update_slice(x, v) {start = [5], step = [1], combine = \"add\"}");
  expect_stays("indices", "f32[9]", "x, u: f32[]",
               "i: i32[1] = 9; scatter(x, i, u) {axes = [0], combine = \"add\", mode = \"drop\"}");
  expect_rule("indices", "f32[4]", "x: f32[9]",
              "i: i32[1] = 7; dynamic_slice(x, i) {size = [4], mode = \"clip\"}",
              "slice(x) {start = [5], size = [4], step = [1]}");
  expect_stays("indices", "f32[4]", "x: f32[9]",
               "i: i32[1] = 7; dynamic_slice(x, i) {size = [4], mode = \"check\"}");
  expect_rule("indices", "f32[9]", "x, u: f32[4]",
              "i: i32[1] = 3; dynamic_update_slice(x, u, i) {combine = \"set\", mode = \"check\"}",
              "update_slice(x, u) {start = [3], step = [1], combine = \"set\"}");
}

TEST(OptimiseIndices, one_hot_masks) {
  const std::string mask =
      "n: i64[4, 9] = iota {dtype = i64, shape = [4, 9], axis = 1}; "
      "j: i64[4, 9] = broadcast_in_dim(i) {shape = [4, 9], axes = [0]}; m: bool[4, 9] = eq(n, j); ";
  const std::string read =
      "r: i64[4, 1] = iota {dtype = i64, shape = [4, 1], axis = 0}; "
      "c: i64[4, 1] = broadcast_in_dim(i) {shape = [4, 1], axes = [0]}; "
      "p: i64[4, 2] = concat(r, c) {axis = 1}; "
      "g: f32[4] = gather(x, p) {axes = [0, 1], mode = \"drop\"}; z: f32[4] = 0.0; add(g, z)";
  expect_rule("indices", "f32[4]", "x: f32[4, 9], i: i64[4]",
              mask +
                  "o: f32[4, 9] = 0.0; s: f32[4, 9] = select(m, x, o); "
                  "reduce_sum(s) {axes = [1]}",
              read);
  expect_reassociated("indices", "f32[4]", "x: f32[4, 9], i: i64[4]",
                      mask +
                          "h: f32[4, 9] = convert(m) {dtype = f32}; "
                          "s: f32[4, 9] = mul(h, x); reduce_sum(s) {axes = [1]}",
                      read);
  // Summed along the other axis it is no read.
  expect_stays("indices", "f32[9]", "x: f32[4, 9], i: i64[4]",
               mask +
                   "o: f32[4, 9] = 0.0; s: f32[4, 9] = select(m, x, o); "
                   "reduce_sum(s) {axes = [0]}");
}

std::string dot(const std::string& operands, const std::string& lhs, const std::string& rhs,
                const std::string& lhs_batch = "", const std::string& rhs_batch = "") {
  return "dot_general(" + operands + ") {lhs_contract = [" + lhs + "], rhs_contract = [" + rhs +
         "], lhs_batch = [" + lhs_batch + "], rhs_batch = [" + rhs_batch + "]}";
}

TEST(OptimiseContractions, of_views) {
  expect_rule("contractions", "f32[3, 5]", "x: f32[4, 3], y: f32[4, 5]",
              "a: f32[3, 4] = transpose(x) {permutation = [1, 0]}; " + dot("a, y", "1", "0"),
              dot("x, y", "0", "0"));
  expect_rule("contractions", "f32[5, 3]", "x: f32[4, 3], y: f32[4, 5]",
              "p: f32[3, 5] = " + dot("x, y", "0", "0") + "; transpose(p) {permutation = [1, 0]}",
              dot("y, x", "0", "0"));
  expect_rule("contractions", "f32[2, 5, 3]", "x: f32[2, 4, 3], y: f32[2, 4, 5]",
              "p: f32[2, 3, 5] = " + dot("x, y", "1", "1", "0", "0") +
                  "; transpose(p) {permutation = [0, 2, 1]}",
              dot("y, x", "1", "1", "0", "0"));
  expect_rule(
      "contractions", "f32[7, 5]", "x: f32[4], y: f32[4, 5]",
      "a: f32[7, 4] = broadcast_in_dim(x) {shape = [7, 4], axes = [1]}; " + dot("a, y", "1", "0"),
      "p: f32[5] = " + dot("x, y", "0", "0") +
          "; broadcast_in_dim(p) {shape = [7, 5], axes = [1]}");
}

TEST(OptimiseContractions, of_one_term) {
  expect_rule("contractions", "f32[2, 3]", "x: f32[2], y: f32[3]", dot("x, y", "", ""),
              "a = broadcast_in_dim(x) {shape = [2, 3], axes = [0]}; "
              "b = broadcast_in_dim(y) {shape = [2, 3], axes = [1]}; "
              "p = mul(a, b); z = 0.0; add(p, z)");
  expect_rule("contractions", "i32[3]", "x: i32[1], y: i32[3, 1]", dot("x, y", "0", "1"),
              "s: i32[] = reshape(x) {shape = []}; "
              "a = broadcast_in_dim(s) {shape = [3], axes = []}; b = reshape(y) {shape = [3]}; "
              "mul(a, b)");
  expect_stays("contractions", "f16[2, 3]", "x: f16[2], y: f16[3]", dot("x, y", "", ""));
}

TEST(OptimiseContractions, in_another_order) {
  const char* in = "p: f32[8, 9], q: f32[9, 7], y: f32[7]";
  expect_reassociated("contractions", "f32[8]", in,
                      "m: f32[8, 7] = " + dot("p, q", "1", "0") + "; " + dot("m, y", "1", "0"),
                      "v: f32[9] = " + dot("q, y", "1", "0") + "; " + dot("p, v", "1", "0"));
  expect_reassociated("contractions", "f32[7]", "p: f32[8, 9], q: f32[9, 7], y: f32[8]",
                      "m: f32[8, 7] = " + dot("p, q", "1", "0") + "; " + dot("y, m", "0", "0"),
                      "v: f32[9] = " + dot("p, y", "0", "0") + "; " + dot("v, q", "0", "0"));
  // (p·v)·y is a vector times …: as cheap as it gets.
  expect_stays("contractions", "f32[8, 20]", "p: f32[8, 2], q: f32[2, 30], y: f32[30, 20]",
               "v: f32[2, 20] = " + dot("q, y", "1", "0") + "; " + dot("p, v", "1", "0"),
               {.reassociate = true});
}

TEST(OptimiseNamedFunctions, chains) {
  const char* f = "f32[4]";
  const char* pass = "named_functions";
  expect_reassociated(pass, f, "x", "o = 1.0; s = add(x, o); log(s)", "log1p(x)");
  expect_reassociated(pass, f, "x", "o = 1.0; e = exp(x); sub(e, o)", "expm1(x)");
  expect_reassociated(pass, f, "x", "o = -1.0; e = exp(x); add(e, o)", "expm1(x)");
  expect_reassociated(pass, f, "x", "o = 1.0; m = neg(x); e = exp(m); s = add(e, o); div(o, s)",
                      "logistic(x)");
  expect_reassociated(pass, f, "x", "o = 1.0; e = exp(x); s = add(e, o); div(e, s)", "logistic(x)");
  expect_reassociated(pass, f, "x", "e = exp(x); log(e)", "x");
  expect_reassociated(pass, f, "x, s", "e = exp(x); q = div(e, s); log(q)",
                      "l = log(s); sub(x, l)");
  expect_reassociated(
      pass, "f32[]", "x: f32[4]", "e: f32[4] = exp(x); s = reduce_sum(e) {axes = [0]}; log(s)",
      "m = reduce_max(x) {axes = [0]}; t: bool[] = is_finite(m); z = 0.0; h = select(t, m, z); "
      "b: f32[4] = broadcast_in_dim(h) {shape = [4], axes = []}; d: f32[4] = sub(x, b); "
      "e: f32[4] = exp(d); s = reduce_sum(e) {axes = [0]}; l = log(s); add(l, h)");
}

TEST(OptimiseReassociation, rules) {
  const char* f = "f32[4]";
  const char* pass = "reassociation";
  expect_reassociated(pass, f, "x", "c = 5.0; div(x, c)", "d = 0.20000000298023224; mul(x, d)");
  expect_reassociated(pass, f, "x, y", "r = sqrt(y); div(x, r)", "r = rsqrt(y); mul(x, r)");
  expect_reassociated(pass, f, "x, y, z", "q = div(x, y); div(q, z)", "p = mul(y, z); div(x, p)");
  expect_reassociated(pass, f, "x, y: f32[]",
                      "b = broadcast_in_dim(y) {shape = [4], axes = []}; div(x, b)",
                      "o: f32[] = 1.0; i: f32[] = div(o, y); "
                      "b = broadcast_in_dim(i) {shape = [4], axes = []}; mul(x, b)");
  expect_reassociated(pass, f, "x, y", "o = 1.0; i = div(o, y); mul(x, i)", "div(x, y)");
  expect_reassociated(pass, f, "x", "a = 3.0; b = 5.0; p = mul(x, a); mul(p, b)",
                      "c = 15.0; mul(x, c)");
  expect_reassociated(pass, f, "x", "a = 3.0; b = 5.0; p = add(x, a); add(p, b)",
                      "c = 8.0; add(x, c)");
  expect_reassociated(pass, f, "a, b, c", "p = mul(a, b); q = mul(c, a); add(p, q)",
                      "s = add(b, c); mul(a, s)");
  expect_reassociated(pass, f, "x, y", "d = sub(x, y); neg(d)", "sub(y, x)");
  expect_reassociated(pass, "f32[]", "x: f32[4]",
                      "c: f32[4] = 3.0; p: f32[4] = mul(x, c); reduce_sum(p) {axes = [0]}",
                      "s = reduce_sum(x) {axes = [0]}; c = 3.0; mul(s, c)");
  expect_reassociated(pass, "f32[2]", "x: f32[2, 4], y: f32[2]",
                      "b: f32[2, 4] = broadcast_in_dim(y) {shape = [2, 4], axes = [0]}; "
                      "p: f32[2, 4] = mul(b, x); reduce_sum(p) {axes = [1]}",
                      "s = reduce_sum(x) {axes = [1]}; mul(s, y)");
  expect_reassociated(pass, "f32[]", "x: f32[4]", "m: f32[4] = neg(x); reduce_sum(m) {axes = [0]}",
                      "s = reduce_sum(x) {axes = [0]}; neg(s)");
}

}  // namespace
}  // namespace hom
