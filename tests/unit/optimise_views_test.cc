// tests/unit/optimise_views_test.cc -- the rules of views, slices and reductions, one by one
#include "optimise_support.h"

namespace hom {
namespace {

TEST(OptimiseViews, broadcasts) {
  expect_rule("views", "f32[2, 3, 4]", "x: f32[4]",
              "a: f32[3, 4] = broadcast_in_dim(x) {shape = [3, 4], axes = [1]}; "
              "broadcast_in_dim(a) {shape = [2, 3, 4], axes = [1, 2]}",
              "broadcast_in_dim(x) {shape = [2, 3, 4], axes = [2]}");
  // A sum whose axis is kept.
  expect_rule("views", "f32[3, 4]", "x: f32[3]",
              "a: f32[3, 1] = reshape(x) {shape = [3, 1]}; "
              "broadcast_in_dim(a) {shape = [3, 4], axes = [0, 1]}",
              "broadcast_in_dim(x) {shape = [3, 4], axes = [0]}");
  expect_rule("views", "f32[3, 4]", "x: f32[1, 3]",
              "a: f32[3] = reshape(x) {shape = [3]}; "
              "broadcast_in_dim(a) {shape = [3, 4], axes = [0]}",
              "a: f32[3] = reshape(x) {shape = [3]}; "
              "broadcast_in_dim(a) {shape = [3, 4], axes = [0]}");  // no place for the first axis
  expect_rule("views", "f32[3, 1, 4]", "x: f32[4]",
              "a: f32[3, 4] = broadcast_in_dim(x) {shape = [3, 4], axes = [1]}; "
              "reshape(a) {shape = [3, 1, 4]}",
              "broadcast_in_dim(x) {shape = [3, 1, 4], axes = [2]}");
  expect_rule("views", "f32[12]", "x: f32[]",
              "a: f32[3, 4] = broadcast_in_dim(x) {shape = [3, 4], axes = []}; "
              "reshape(a) {shape = [12]}",
              "broadcast_in_dim(x) {shape = [12], axes = []}");
}

TEST(OptimiseViews, transposes) {
  expect_rule("views", "f32[4, 3]", "x: f32[4]",
              "a: f32[3, 4] = broadcast_in_dim(x) {shape = [3, 4], axes = [1]}; "
              "transpose(a) {permutation = [1, 0]}",
              "broadcast_in_dim(x) {shape = [4, 3], axes = [0]}");
  expect_rule("views", "f32[4, 2, 3]", "x: f32[3, 4]",
              "a: f32[2, 3, 4] = broadcast_in_dim(x) {shape = [2, 3, 4], axes = [1, 2]}; "
              "transpose(a) {permutation = [2, 0, 1]}",
              "a: f32[4, 3] = transpose(x) {permutation = [1, 0]}; "
              "broadcast_in_dim(a) {shape = [4, 2, 3], axes = [0, 2]}");
  expect_rule("views", "f32[4, 1]", "x: f32[1, 4]", "transpose(x) {permutation = [1, 0]}",
              "reshape(x) {shape = [4, 1]}");
}

TEST(OptimiseViews, transposes_of_outer_products) {
  expect_rule("views", "f32[3, 4]", "x: f32[3], y: f32[4]",
              "a: f32[4, 3] = broadcast_in_dim(x) {shape = [4, 3], axes = [1]}; "
              "b: f32[4, 3] = broadcast_in_dim(y) {shape = [4, 3], axes = [0]}; "
              "c: f32[4, 3] = 2.0; p: f32[4, 3] = mul(a, b); q: f32[4, 3] = add(p, c); "
              "transpose(q) {permutation = [1, 0]}",
              "a = broadcast_in_dim(x) {shape = [3, 4], axes = [0]}; "
              "b = broadcast_in_dim(y) {shape = [3, 4], axes = [1]}; p = mul(a, b); c = 2.0; "
              "add(p, c)");
  // What another step needs too is not computed twice, and a matrix stays in its layout.
  expect_stays("views", "f32[3, 4]", "x: f32[3], y: f32[4]",
               "a: f32[4, 3] = broadcast_in_dim(x) {shape = [4, 3], axes = [1]}; "
               "b: f32[4, 3] = broadcast_in_dim(y) {shape = [4, 3], axes = [0]}; "
               "p: f32[4, 3] = mul(a, b); t = transpose(p) {permutation = [1, 0]}; return t, p");
  expect_stays("views", "f32[3, 4]", "x: f32[3], y: f32[4, 3]",
               "a: f32[4, 3] = broadcast_in_dim(x) {shape = [4, 3], axes = [1]}; "
               "p: f32[4, 3] = mul(a, y); transpose(p) {permutation = [1, 0]}");
}

TEST(OptimiseViews, functions_of_copies) {
  expect_rule("views", "f32[5]", "x: f32[], y: f32[]",
              "a = broadcast_in_dim(x) {shape = [5], axes = []}; "
              "b = broadcast_in_dim(y) {shape = [5], axes = []}; c = 2.0; s = add(a, b); div(s, c)",
              "s: f32[] = add(x, y); c: f32[] = 2.0; d: f32[] = div(s, c); "
              "broadcast_in_dim(d) {shape = [5], axes = []}");
  expect_stays("views", "f32[5]", "x: f32[], y",
               "a = broadcast_in_dim(x) {shape = [5], axes = []}; mul(a, y)");
  expect_rule("views", "f32[3, 1]", "x: f32[3]",
              "a = reshape(x) {shape = [3, 1]}; c = 2.0; b = div(a, c); exp(b)",
              "c: f32[3] = 2.0; b: f32[3] = div(x, c); e: f32[3] = exp(b); "
              "reshape(e) {shape = [3, 1]}");
}

TEST(OptimiseSlices, of_what_elements_come_from) {
  const char* part = " {start = [1], size = [2], step = [2]}";
  const auto slice = [&](const std::string& x) { return "slice(" + x + ")" + part; };
  expect_rule("slices", "f32[2]", "x: f32[20]",
              "a: f32[5] = slice(x) {start = [3], size = [5], step = [3]}; " + slice("a"),
              "slice(x) {start = [6], size = [2], step = [6]}");
  expect_rule("slices", "f32[2]", "x: f32[5]",
              "a: f32[5] = slice(x) {start = [4], size = [5], step = [-1]}; " + slice("a"),
              "slice(x) {start = [3], size = [2], step = [-2]}");
  expect_rule("slices", "f32[2]", "x: f32[5], y: f32[7]",
              "a: f32[12] = concat(x, y) {axis = 0}; "
              "slice(a) {start = [6], size = [2], step = [3]}",
              "slice(y) {start = [1], size = [2], step = [3]}");
  expect_stays("slices", "f32[2]", "x: f32[5], y: f32[7]",
               "a: f32[12] = concat(x, y) {axis = 0}; "
               "slice(a) {start = [4], size = [2], step = [3]}");
  const std::string padded =
      "a: f32[12] = pad(x, v) {low = [4], high = [3], interior = [0]}; slice(a) ";
  expect_rule("slices", "f32[2]", "x: f32[5], v: f32[]",
              padded + "{start = [5], size = [2], step = [2]}",
              "slice(x) {start = [1], size = [2], step = [2]}");
  expect_rule("slices", "f32[2]", "x: f32[5], v: f32[]",
              padded + "{start = [9], size = [2], step = [1]}",
              "broadcast_in_dim(v) {shape = [2], axes = []}");
  expect_stays("slices", "f32[2]", "x: f32[5], v: f32[]",
               padded + "{start = [3], size = [2], step = [1]}");
}

TEST(OptimiseSlices, of_updates) {
  for (const char* combine : {"set", "add"}) {
    const std::string updated =
        "a: f32[9] = update_slice(x, u) {start = [2], step = [1], combine = \"" +
        std::string(combine) + "\"}; slice(a) ";
    const char* in = "x: f32[9], u: f32[4]";
    expect_rule("slices", "f32[2]", in, updated + "{start = [6], size = [2], step = [1]}",
                "slice(x) {start = [6], size = [2], step = [1]}");
    const std::string inside = updated + "{start = [3], size = [2], step = [2]}";
    if (std::string(combine) == "set") {
      expect_rule("slices", "f32[2]", in, inside, "slice(u) {start = [1], size = [2], step = [2]}");
    } else {
      expect_stays("slices", "f32[2]", in, inside);
    }
    expect_stays("slices", "f32[2]", in, updated + "{start = [5], size = [2], step = [1]}");
  }
  expect_rule("slices", "f32[4]", "x, u",
              "update_slice(x, u) {start = [0], step = [1], combine = \"set\"}", "u");
  expect_stays("slices", "f32[4]", "x, u",
               "update_slice(x, u) {start = [0], step = [1], combine = \"add\"}");
  expect_stays("slices", "f32[4]", "x, u",
               "update_slice(x, u) {start = [3], step = [-1], combine = \"set\"}");
}

TEST(OptimiseSlices, move_inwards) {
  expect_rule("slices", "f32[3, 2]", "x: f32[4]",
              "a: f32[3, 4] = broadcast_in_dim(x) {shape = [3, 4], axes = [1]}; "
              "slice(a) {start = [0, 1], size = [3, 2], step = [1, 1]}",
              "a: f32[2] = slice(x) {start = [1], size = [2], step = [1]}; "
              "broadcast_in_dim(a) {shape = [3, 2], axes = [1]}");
  expect_rule("slices", "f32[1, 4]", "x: f32[4]",
              "a: f32[3, 4] = broadcast_in_dim(x) {shape = [3, 4], axes = [1]}; "
              "slice(a) {start = [2, 0], size = [1, 4], step = [1, 1]}",
              "broadcast_in_dim(x) {shape = [1, 4], axes = [1]}");
  expect_rule("slices", "f32[3, 2]", "x: f32[4, 3]",
              "a: f32[3, 4] = transpose(x) {permutation = [1, 0]}; "
              "slice(a) {start = [0, 1], size = [3, 2], step = [1, 1]}",
              "a: f32[2, 3] = slice(x) {start = [1, 0], size = [2, 3], step = [1, 1]}; "
              "transpose(a) {permutation = [1, 0]}");
  // x(i)(j)
  expect_rule("slices", "f32[]", "x: f32[5, 7]",
              "a: f32[1, 7] = slice(x) {start = [3, 0], size = [1, 7], step = [1, 1]}; "
              "b: f32[7] = reshape(a) {shape = [7]}; "
              "c: f32[1] = slice(b) {start = [4], size = [1], step = [1]}; reshape(c) {shape = []}",
              "a: f32[1, 1] = slice(x) {start = [3, 4], size = [1, 1], step = [1, 1]}; "
              "reshape(a) {shape = []}");
}

TEST(OptimiseSlices, concatenations_and_padding) {
  expect_rule("slices", "f32[7]", "x: f32[3], y: f32[0], z: f32[4]", "concat(x, y, z) {axis = 0}",
              "concat(x, z) {axis = 0}");
  expect_rule("slices", "f32[9]", "x: f32[3], y: f32[4], z: f32[2]",
              "a: f32[7] = concat(x, y) {axis = 0}; concat(a, z) {axis = 0}",
              "concat(x, y, z) {axis = 0}");
  expect_rule("slices", "f32[5]", "x: f32[9]",
              "a: f32[2] = slice(x) {start = [1], size = [2], step = [1]}; "
              "b: f32[3] = slice(x) {start = [3], size = [3], step = [1]}; concat(a, b) {axis = 0}",
              "slice(x) {start = [1], size = [5], step = [1]}");
  expect_stays("slices", "f32[5]", "x: f32[9]",
               "a: f32[2] = slice(x) {start = [1], size = [2], step = [1]}; "
               "b: f32[3] = slice(x) {start = [4], size = [3], step = [1]}; "
               "concat(a, b) {axis = 0}");
  expect_rule("slices", "f32[7]", "", "a: f32[3] = 2.0; b: f32[4] = 2.0; concat(a, b) {axis = 0}",
              "c = 2.0");
  expect_rule("slices", "f32[3]", "x, v: f32[]",
              "pad(x, v) {low = [0], high = [0], interior = [0]}", "x");
}

TEST(OptimiseReductions, single_terms_and_copies) {
  expect_rule("reductions", "f32[3]", "x: f32[3, 1]", "reduce_max(x) {axes = [1]}",
              "reshape(x) {shape = [3]}");
  expect_stays("reductions", "f32[3]", "x: f32[3, 1]", "reduce_sum(x) {axes = [1]}");  // −0
  expect_rule("reductions", "f32[3]", "x: f32[3, 1]",
              "a: f32[3, 1] = abs(x); reduce_sum(a) {axes = [1]}",
              "a: f32[3, 1] = abs(x); reshape(a) {shape = [3]}");
  const char* copies = "a: f32[3, 5] = broadcast_in_dim(x) {shape = [3, 5], axes = [0]}; ";
  expect_rule("reductions", "f32[3]", "x: f32[3]",
              std::string(copies) + "reduce_max(a) {axes = [1]}", "x");
  expect_rule("reductions", "f32[]", "x: f32[3]",
              std::string(copies) + "reduce_min(a) {axes = [0, 1]}", "reduce_min(x) {axes = [0]}");
  expect_reassociated("reductions", "f32[3]", "x: f32[3]",
                      std::string(copies) + "reduce_sum(a) {axes = [1]}", "c = 5.0; mul(x, c)");
  expect_rule("reductions", "i32[3]", "x: i32[3]",
              "a: i32[3, 5] = broadcast_in_dim(x) {shape = [3, 5], axes = [0]}; "
              "reduce_sum(a) {axes = [1]}",
              "c = 5; mul(x, c)");
}

TEST(OptimiseReductions, of_reductions_and_views) {
  expect_rule("reductions", "i32[]", "x: i32[3, 4]",
              "a: i32[3] = reduce_sum(x) {axes = [1]}; reduce_sum(a) {axes = [0]}",
              "reduce_sum(x) {axes = [0, 1]}");
  expect_reassociated("reductions", "f32[]", "x: f32[3, 4]",
                      "a: f32[3] = reduce_max(x) {axes = [1]}; reduce_max(a) {axes = [0]}",
                      "reduce_max(x) {axes = [0, 1]}");
  expect_rule("reductions", "f32[4, 2]", "x: f32[2, 3, 4]",
              "a: f32[4, 3, 2] = transpose(x) {permutation = [2, 1, 0]}; "
              "reduce_sum(a) {axes = [1]}",
              "a: f32[2, 4] = reduce_sum(x) {axes = [1]}; transpose(a) {permutation = [1, 0]}");
  expect_stays("reductions", "f32[2]", "x: f32[2, 3, 4]",
               "a: f32[4, 3, 2] = transpose(x) {permutation = [2, 1, 0]}; "
               "reduce_sum(a) {axes = [0, 1]}");
  expect_rule("reductions", "i32[2]", "x: i32[2, 3, 4]",
              "a: i32[4, 3, 2] = transpose(x) {permutation = [2, 1, 0]}; "
              "reduce_sum(a) {axes = [0, 1]}",
              "reduce_sum(x) {axes = [1, 2]}");
  expect_rule("reductions", "f32[]", "x: f32[3, 4]",
              "a: f32[12] = reshape(x) {shape = [12]}; reduce_sum(a) {axes = [0]}",
              "reduce_sum(x) {axes = [0, 1]}");
  expect_rule("reductions", "f32[2, 3]", "x: f32[6, 4]",
              "a: f32[2, 3, 2, 2] = reshape(x) {shape = [2, 3, 2, 2]}; "
              "reduce_prod(a) {axes = [2, 3]}",
              "a: f32[6] = reduce_prod(x) {axes = [1]}; reshape(a) {shape = [2, 3]}");
  expect_stays("reductions", "f32[3]", "x: f32[12]",
               "a: f32[3, 4] = reshape(x) {shape = [3, 4]}; reduce_sum(a) {axes = [1]}");
}

}  // namespace
}  // namespace hom
