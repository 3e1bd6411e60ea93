// tests/unit/optimise_programs_test.cc -- passes over calls, loops, branches and constants, and
// what runs all of them
#include <array>
#include <cmath>

#include "optimise_support.h"
#include <gmock/gmock.h>

#include <hom/hom.h>

namespace hom {
namespace {

using testing::HasSubstr;

std::vector<std::string> primitives_of(const Program& program) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program.step_count(); ++i)
    names.push_back(program.step(i).primitive.name);
  return names;
}

std::size_t count_of(const Program& program, const std::string& primitive) {
  const std::vector<std::string> names = primitives_of(program);
  return static_cast<std::size_t>(std::count(names.begin(), names.end(), primitive));
}

Program run(const char* pass, const Program& program, const OptimiseOptions& options = {}) {
  return pass_named(pass).run(program, options);
}

/// The program in the attribute of its first step of the primitive.
const Program& inside(const Program& program, const std::string& primitive, const char* attribute) {
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    if (program.step(i).primitive.name == primitive)
      return *program.step(i).attributes.program(attribute);
  }
  throw Bug("no step of " + primitive);
}

// ---- inline_calls ----

TEST(InlineCalls, steps_keep_their_lines_and_scopes) {
  const auto f = named(
      "half", [](Tensor x) { return named("inner", [](Tensor y) { return sin(y); })(x) * 0.5; });
  const Program before = program([&](Tensor x) { return f(x) + f(x + 1.0); }, f64[{}]);
  const Program after = run("inline_calls", before);
  EXPECT_EQ(count_of(after, "call"), 0u);
  EXPECT_EQ(count_of(after, "sin"), 2u);
  for (std::size_t i = 0; i < after.step_count(); ++i) {
    const Step step = after.step(i);
    EXPECT_THAT(to_string(step.at), HasSubstr("optimise_programs_test.cc"));
    if (step.primitive.name == "sin") {
      EXPECT_EQ(step.scope, "inner");
    } else if (step.primitive.name == "mul") {
      EXPECT_EQ(step.scope, "half");
    }
  }
}

TEST(InlineCalls, rules_of_custom_functions_are_left_behind) {
  const auto f = custom_jvp([](Tensor x) { return sqrt(x); },
                            [](Tensor, Tensor y, Tensor dx) { return dx / (2 * y); });
  const Program after = run("inline_calls", program([&](Tensor x) { return f(x); }, f64[{}]));
  EXPECT_EQ(primitives_of(after), (std::vector<std::string>{"sqrt"}));
}

TEST(InlineCalls, composites_stay_where_the_executor_has_a_kernel) {
  const std::string part =
      "program @norm(x: f64[3]) -> f64[3] {\n  y: f64[3] = abs(x)\n  return y\n}\n";
  const Program before =
      program_of("f64[3]", "x", "composite(x) {program = @norm, name = \"rms_norm\"}", part);
  const auto has_kernel = [](const Step& step) {
    return step.attributes.string("name") == "rms_norm";
  };
  EXPECT_TRUE(run("inline_calls", before, {.keep_composite = has_kernel}) == before);
  EXPECT_EQ(primitives_of(run("inline_calls", before)), (std::vector<std::string>{"abs"}));
}

TEST(InlineCalls, what_a_checkpoint_computes_again_is_not_merged_with_what_it_saves) {
  const auto f = checkpoint([](Tensor x) { return sin(sin(x)); });
  const Program before = program(
      [&](Tensor x) { return value_and_grad([&](Tensor y) { return sum(f(y)); })(x); }, f64[{3}]);
  const Program after = optimise(before);
  // sin x and sin sin x for the value; behind a barrier, sin x again for the gradient.
  EXPECT_EQ(count_of(after, "barrier"), 1u);
  EXPECT_EQ(count_of(after, "sin"), 3u);
  // Alone, it needs no barrier.
  EXPECT_EQ(primitives_of(optimise(program(f, f64[{3}]))),
            (std::vector<std::string>{"sin", "sin"}));
}

TEST(InlineCalls, depth_costs_nothing_but_steps) {
  // Ten thousand calls, one inside the other.
  ProgramPtr inner;
  const Primitive& call = standard_primitives().find("call");
  const Primitive& sin_ = standard_primitives().find("sin");
  constexpr std::size_t depth = 10000;
  for (std::size_t d = 0; d < depth; ++d) {
    Builder builder;
    Slot x = builder.add_input(f64[{}], "x");
    x = builder.append(sin_, {}, {x}, Location::current());
    if (inner) x = builder.append(call, {{"program", {inner}}}, {x}, Location::current());
    inner = std::make_shared<const Program>(std::move(builder).finish({x}, {}));
  }
  const Program after = run("inline_calls", *inner);
  EXPECT_EQ(after.step_count(), depth);
  EXPECT_EQ(after.steps_built(), depth);
}

TEST(InlineCalls, branches_that_are_known_and_loops_that_are_none) {
  const std::string branches =
      "program @a(x: f64[]) -> f64[] {\n  y: f64[] = sin(x)\n  return y\n}\n"
      "program @b(x: f64[]) -> f64[] {\n  y: f64[] = cos(x)\n  return y\n}\n";
  expect_pass("inline_calls",
              program_of("f64[]", "x", "p: bool[] = true; cond(p, x) {then = @a, otherwise = @b}",
                         branches),
              program_of("f64[]", "x", "sin(x)"));
  expect_pass(
      "inline_calls",
      program_of("f64[]", "p: bool[], x", "cond(p, x) {then = @b, otherwise = @b}", branches),
      program_of("f64[]", "p: bool[], x", "cos(x)"));
  const std::string body =
      "program @body(c: f64[], x: f64[3]) -> (f64[], f64[3]) {\n  s: f64[] = reduce_sum(x) {axes = "
      "[0]}\n"
      "  d: f64[] = add(c, s)\n  return d, x\n}\n";
  const auto loop = [&](const std::string& n) {
    return "d, y: f64[" + n +
           ", 3] = scan(c, x) {body = @body, carries = 1, scanned = 1, length = " + n +
           ", reverse = false}; return d, y";
  };
  expect_pass(
      "inline_calls", program_of("f64[]", "c, x: f64[1, 3]", loop("1"), body),
      program_of(
          "f64[]", "c, x: f64[1, 3]",
          "e: f64[3] = reshape(x) {shape = [3]}; s = reduce_sum(e) {axes = [0]}; d = add(c, s); "
          "return d, x"));
  expect_pass("inline_calls", program_of("f64[]", "c, x: f64[0, 3]", loop("0"), body),
              program_of("f64[]", "c, x: f64[0, 3]", "y: f64[0, 3] = 0.0; return c, y"));
}

// ---- fold_constants ----

TEST(FoldConstants, literals_of_any_size) {
  expect_rule("fold_constants", "f32[1000, 1000]", "x", "a = 2.0; b = exp(a); mul(x, b)",
              "b = 7.389056205749512; mul(x, b)");
  expect_rule("fold_constants", "f32[]", "x",
              "a: f32[3] = 2.0; s = reduce_sum(a) {axes = [0]}; mul(x, s)", "s = 6.0; mul(x, s)");
  expect_rule("fold_constants", "i64[]", "x",
              "n: i64[4] = iota {dtype = i64, shape = [4], axis = 0}; s = reduce_sum(n) {axes = "
              "[0]}; add(x, s)",
              "s = 6; add(x, s)");
}

TEST(FoldConstants, tensors_of_the_closure) {
  const Tensor rate(0.5);
  const Tensor table = tensor({1.0, 2.0, 4.0});
  const Program before =
      program([&](Tensor x) { return x * rate + sum(log(table)) + x * exp(table); }, f64[{3}]);
  const Program after = run("fold_constants", before);
  EXPECT_EQ(count_of(after, "log"), 0u);
  EXPECT_EQ(count_of(after, "exp"), 0u);
  ASSERT_EQ(after.captured().size(), 1u);  // exp(table): all else is a literal
  EXPECT_TRUE(array_equal(after.captured()[0], exp(table)));
  const Tensor x = tensor({0.1, 0.2, 0.3});
  EXPECT_TRUE(array_equal(evaluate(after, {x})[0], evaluate(before, {x})[0]));
}

TEST(FoldConstants, not_what_raises_and_not_random_bits_and_no_large_copies) {
  expect_stays("fold_constants", "f32[]", "",
               "x: f32[2] = 1.0; i: i32[1] = 5; gather(x, i) {axes = [0], mode = \"check\"}");
  expect_stays("fold_constants", "u32[4]", "",
               "k: u32[2] = 1; random_bits(k) {dtype = u32, shape = [4]}");
  // Counted positions are cheaper than memory.
  expect_stays("fold_constants", "i64[9]", "",
               "n = iota {dtype = i64, shape = [9], axis = 0}; add(n, n)");
}

// ---- dead_results ----

TEST(DeadResults, of_scan) {
  const std::string body =
      "program @body(a: f64[], b: f64[], x: f64[], y: f64[], k: f64[], l: f64[]) -> "
      "(f64[], f64[], f64[], f64[], f64[], f64[]) {\n"
      "  a2: f64[] = add(a, x)\n  b2: f64[] = mul(b, y)\n  s: f64[] = mul(a, k)\n  t: f64[] = "
      "sin(b2)\n"
      "  return a2, b2, s, t, x, k\n}\n";
  const std::string loop =
      "a, b, s: f64[5], t: f64[5], u: f64[5], v: f64[5] = scan(p, q, x, y, k, l) "
      "{body = @body, carries = 2, scanned = 2, length = 5, reverse = false}; ";
  const char* in = "p, q, x: f64[5], y: f64[5], k, l";
  // b only serves itself and t; y only b; nobody reads l.
  const std::string smaller =
      "program @body(a: f64[], x: f64[], k: f64[]) -> (f64[], f64[]) {\n"
      "  a2: f64[] = add(a, x)\n  s: f64[] = mul(a, k)\n  return a2, s\n}\n";
  expect_pass(
      "dead_results", program_of("f64[]", in, loop + "return a, s", body),
      program_of(
          "f64[]", in,
          "a, s: f64[5] = scan(p, x, k) {body = @body, carries = 1, scanned = 1, length = 5, "
          "reverse = false}; return a, s",
          smaller));
  // Elements of a scanned operand, stacked, are that operand; a constant is repeated.
  expect_pass("dead_results", program_of("f64[]", in, loop + "return u, v", body),
              program_of("f64[]", in,
                         "v: f64[5] = broadcast_in_dim(k) {shape = [5], axes = []}; return x, v"));
}

TEST(DeadResults, what_does_not_change_is_no_carry) {
  const std::string body =
      "program @body(a: f64[], w: f64[], x: f64[], z: f64[]) -> (f64[], f64[]) {\n"
      "  b: f64[] = mul(a, w)\n  c: f64[] = add(b, x)\n  d: f64[] = add(c, z)\n  return d, w\n}\n";
  expect_pass("dead_results",
              program_of("f64[]", "p, w, s",
                         "x: f64[5] = broadcast_in_dim(s) {shape = [5], axes = []}; z = 2.0; "
                         "a, v = scan(p, w, x, z) {body = @body, carries = 2, scanned = 1, length "
                         "= 5, reverse = false}; "
                         "return a, v",
                         body),
              program_of("f64[]", "p, w, s",
                         "a = scan(p, w, s) {body = @body, carries = 1, scanned = 0, length = 5, "
                         "reverse = false}; "
                         "return a, w",
                         "program @body(a: f64[], w: f64[], x: f64[]) -> f64[] {\n  z: f64[] = "
                         "constant {value = 2.0, dtype = "
                         "f64, shape = []}\n  b: f64[] = mul(a, w)\n  c: f64[] = add(b, x)\n  d: "
                         "f64[] = add(c, z)\n  return "
                         "d\n}\n"));
}

TEST(DeadResults, of_while_and_cond) {
  const std::string loop =
      "program @test(i: i64[], a: f64[], b: f64[], n: i64[]) -> bool[] {\n  t: bool[] = lt(i, n)\n "
      " return t\n}\n"
      "program @step(i: i64[], a: f64[], b: f64[], n: i64[]) -> (i64[], f64[], f64[]) {\n"
      "  o: i64[] = constant {value = 1, dtype = i64, shape = []}\n  j: i64[] = add(i, o)\n  c: "
      "f64[] = sin(a)\n"
      "  d: f64[] = cos(b)\n  return j, c, d\n}\n";
  expect_pass("dead_results",
              program_of("f64[]", "i: i64[], a, b, n: i64[]",
                         "j: i64[], c, d = while(i, a, b, n) {condition = @test, body = @step, "
                         "carries = 3, bound = "
                         "-1}; return d",
                         loop),
              program_of("f64[]", "i: i64[], a, b, n: i64[]",
                         "j: i64[], d = while(i, b, n) {condition = @test, body = @step, carries = "
                         "2, bound = -1}; "
                         "return d",
                         "program @test(i: i64[], b: f64[], n: i64[]) -> bool[] {\n  t: bool[] = "
                         "lt(i, n)\n  return "
                         "t\n}\nprogram @step(i: i64[], b: f64[], n: i64[]) -> (i64[], f64[]) {\n  "
                         "o: i64[] = constant "
                         "{value = 1, dtype = i64, shape = []}\n  j: i64[] = add(i, o)\n  d: f64[] "
                         "= cos(b)\n  return "
                         "j, d\n}\n"));
  const std::string branches =
      "program @a(x: f64[], y: f64[], z: f64[]) -> (f64[], f64[], f64[]) {\n  s: f64[] = sin(x)\n  "
      "t: f64[] = "
      "mul(y, z)\n  return s, t, y\n}\n"
      "program @b(x: f64[], y: f64[], z: f64[]) -> (f64[], f64[], f64[]) {\n  s: f64[] = cos(x)\n  "
      "return s, z, "
      "y\n}\n";
  expect_pass(
      "dead_results",
      program_of("f64[]", "p: bool[], x, y, z",
                 "s, t, u = cond(p, x, y, z) {then = @a, otherwise = @b}; return s, u", branches),
      program_of("f64[]", "p: bool[], x, y, z",
                 "s = cond(p, x) {then = @a, otherwise = @b}; return s, y",
                 "program @a(x: f64[]) -> f64[] {\n  s: f64[] = sin(x)\n  return s\n}\n"
                 "program @b(x: f64[]) -> f64[] {\n  s: f64[] = cos(x)\n  return s\n}\n"));
}

// ---- hoist_invariants ----

TEST(HoistInvariants, of_scan) {
  const std::string body =
      "program @body(a: f64[3], w: f64[3], i: i64[1]) -> f64[3] {\n"
      "  e: f64[3] = exp(w)\n  r: f64[3, 3] = broadcast_in_dim(e) {shape = [3, 3], axes = [0]}\n"
      "  s: f64[3] = reduce_max(r) {axes = [1]}\n  g: f64[] = gather(w, i) {axes = [0], mode = "
      "\"check\"}\n"
      "  h: f64[3] = broadcast_in_dim(g) {shape = [3], axes = []}\n"
      "  b: f64[3] = mul(a, s)\n  c: f64[3] = add(b, h)\n  return c\n}\n";
  // What may raise stays: there may be no iteration. The broadcast goes where the maximum goes.
  expect_pass(
      "hoist_invariants",
      program_of(
          "f64[3]", "a, w, i: i64[1]",
          "scan(a, w, i) {body = @body, carries = 1, scanned = 0, length = 7, reverse = false}",
          body),
      program_of(
          "f64[3]", "a, w, i: i64[1]",
          "e = exp(w); r: f64[3, 3] = broadcast_in_dim(e) {shape = [3, 3], axes = [0]}; "
          "s = reduce_max(r) {axes = [1]}; "
          "scan(a, w, i, s) {body = @body, carries = 1, scanned = 0, length = 7, reverse = false}",
          "program @body(a: f64[3], w: f64[3], i: i64[1], s: f64[3]) -> f64[3] {\n"
          "  g: f64[] = gather(w, i) {axes = [0], mode = \"check\"}\n"
          "  h: f64[3] = broadcast_in_dim(g) {shape = [3], axes = []}\n"
          "  b: f64[3] = mul(a, s)\n  c: f64[3] = add(b, h)\n  return c\n}\n"));
}

TEST(HoistInvariants, of_nested_loops_and_of_map) {
  const auto f = [](Tensor x, Tensor w) {
    return map([&](Tensor row) { return map([&](Tensor e) { return e * sum(exp(w)); }, row); }, x);
  };
  const Program after = optimise(program(f, f64[{5, 4}], f64[{3}]));
  EXPECT_EQ(count_of(after, "exp"), 1u);
  EXPECT_EQ(count_of(after, "reduce_sum"), 1u);
  EXPECT_EQ(count_of(inside(after, "scan", "body"), "exp"), 0u);
}

TEST(HoistInvariants, of_while) {
  const auto f = [](Tensor x, Tensor w) {
    return while_loop([&](Tensor y) { return y < sum(w); },
                      [&](Tensor y) { return y + exp(w)(0) + 1.0; }, x);
  };
  const Program after = run("hoist_invariants", program(f, f64[{}], f64[{3}]));
  EXPECT_EQ(count_of(after, "reduce_sum"), 1u);
  EXPECT_EQ(count_of(after, "exp"), 1u);
  for (const double x : {0.0, 100.0}) {  // runs, and does not
    const Tensor w = tensor({1.0, 2.0, 3.0});
    EXPECT_TRUE(array_equal(evaluate(after, {x, w})[0], f(x, w)));
  }
}

TEST(HoistInvariants, of_both_branches) {
  const auto f = [](Tensor p, Tensor x) {
    return cond(
        p, [](Tensor y) { return sin(exp(y)); }, [](Tensor y) { return cos(exp(y)) + cosh(y); }, x);
  };
  const Program after = run("hoist_invariants", program(f, bool_[{}], f64[{}]));
  EXPECT_EQ(primitives_of(after), (std::vector<std::string>{"exp", "cond"}));
  EXPECT_EQ(count_of(inside(after, "cond", "otherwise"), "cosh"), 1u);
}

// ---- all of them ----

TEST(Optimise, passes_have_names_descriptions_and_rules) {
  for (const Pass& pass : standard_passes()) {
    EXPECT_EQ(&pass_named(pass.name), &pass);
    EXPECT_NE(pass.description, "");
    EXPECT_FALSE(pass.rules.empty()) << pass.name;
    for (const RuleDescription& rule : pass.rules) EXPECT_NE(rule.why, "") << rule.formula;
  }
  try {
    pass_named("arithmetics");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown pass `arithmetics`"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean `arithmetic`?"));
  }
}

TEST(Optimise, report_says_what_each_pass_changed) {
  const Program before = program_of("f32[4]", "x, y", "m = neg(y); add(x, m)");
  EXPECT_EQ(optimisation_report(before),
            "arithmetic: 2 steps → 1\n"
            "-   v2: f32[4] = neg(y)\n"
            "-   v3: f32[4] = add(x, v2)\n"
            "-   return v3\n"
            "+   v2: f32[4] = sub(x, y)\n"
            "+   return v2\n"
            "all passes: 2 steps → 1\n");
}

TEST(Optimise, observer_sees_what_changes_and_nothing_else) {
  const Program before = program_of("f32[4]", "x, y", "m = neg(y); add(x, m)");
  std::vector<std::string> seen;
  const Program after =
      optimise(before, {}, [&](const Pass& pass, const Program& from, const Program& to) {
        EXPECT_FALSE(from == to);
        seen.push_back(pass.name);
      });
  EXPECT_EQ(seen, (std::vector<std::string>{"arithmetic"}));
  EXPECT_EQ(after.input_names(), before.input_names());
  EXPECT_EQ(after.domain(), before.domain());
}

/// Steps built by all passes, until nothing changes.
std::size_t steps_built(const Program& program, const OptimiseOptions& options) {
  std::size_t built = 0;
  optimise(program, options, [&](const Pass&, const Program&, const Program& after) {
    built += after.steps_built();
  });
  return built;
}

TEST(Optimise, steps_built_grow_as_the_program_does) {
  const auto gradient = [](int n) {
    const auto chain = [n](Tensor x) {
      for (int i = 0; i < n; ++i) {
        x = x - -sin(x) / 4.0 +
            reshape(reshape(x, {2, 4}), {8}) * named("twice", [](Tensor y) { return y + y; })(x);
      }
      return sum(x);
    };
    return program([&](Tensor x) { return value_and_grad(chain)(x); }, f64[{8}]);
  };
  for (const bool reassociate : {false, true}) {
    const OptimiseOptions options{.reassociate = reassociate};
    const auto small = static_cast<double>(steps_built(gradient(50), options));
    const Program large_program = gradient(5000);
    const auto large = static_cast<double>(steps_built(large_program, options));
    EXPECT_GT(large_program.step_count(), 50000u);
    EXPECT_LT(large, 110 * small);
    EXPECT_GT(small, 0);
  }
}

TEST(Optimise, real_programs_become_smaller) {
  // A row of labels against classes, as rows of a mask, read by position.
  const auto masked = [](Tensor x, Tensor labels) {
    return sum(where(expand_dims(labels, 1) == expand_dims(arange(6), 0), x, 0), 1);
  };
  const Program picked = optimise(program(masked, f32[{4, 6}], i64[{4}]));
  EXPECT_EQ(count_of(picked, "gather"), 1u);
  EXPECT_EQ(count_of(picked, "select"), 0u);
  // The gradient of a layer in its weight needs no transpose.
  const auto layer = [](Tensor w, Tensor x) { return sum(tanh(matmul(x, w))); };
  const Program gradient = optimise(
      program([&](Tensor w, Tensor x) { return grad(layer)(w, x); }, f32[{5, 4}], f32[{3, 5}]));
  EXPECT_EQ(count_of(gradient, "transpose"), 0u);
  // softmax: the maximum, the sum and what is done to them have no axis of extent 1.
  const Program weights = optimise(program([](Tensor x) { return softmax(x); }, f32[{4, 6}]));
  EXPECT_EQ(count_of(weights, "reshape"), 0u);
  EXPECT_EQ(count_of(weights, "stop_gradient"), 0u);
}

}  // namespace
}  // namespace hom
