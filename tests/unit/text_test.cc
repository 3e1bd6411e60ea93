// tests/unit/text_test.cc -- the text form gives back the program that was written, or says where
// it is wrong
#include <hom/core/text.h>

#include <bit>
#include <cmath>

#include "program_support.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;
using testing::HasSubstr;
using testing::StartsWith;

void expect_round_trip(const Program& program,
                       const PrimitiveTable& primitives = standard_primitives()) {
  const std::string text = to_text(program);
  const Program read = parse_program(text, captured_tensors(program), primitives);
  EXPECT_TRUE(read == program) << text;
  EXPECT_EQ(read.name(), program.name());
  EXPECT_EQ(read.input_names(), program.input_names());
  EXPECT_EQ(read.domain(), program.domain());
  EXPECT_EQ(read.codomain(), program.codomain());
  EXPECT_EQ(to_text(read), text);
}

/// The error of a text whose body has one line more, at 3:1, than `f(x: f64[]) -> f64[] {`.
std::string error_in(const std::string& line, const std::string& rest = "\n  return x\n}\n") {
  return message_of([&] { parse_program("hom 1\nf(x: f64[]) -> f64[] {\n" + line + rest); });
}

TEST(Text, reads_well) {
  Sketch s;
  const Slot x = s.input("x");
  const Slot y = s.input("y");
  const Slot v = s("mul", {y, x});
  EXPECT_EQ(to_text(s.returning({s.spread(s("cos", {v}), 2), v}, "forward")),
            "hom 1\n"
            "forward(x: f64[], y: f64[]) -> (f64[2], f64[]) {\n"
            "  v2: f64[] = mul(y, x)\n"
            "  v3: f64[] = cos(v2)\n"
            "  v4: f64[2] = broadcast_in_dim(v3) {shape = [2], axes = []}\n"
            "  return v4, v2\n"
            "}\n");
}

TEST(Text, prints_a_program_that_several_steps_share_once_and_before_its_use) {
  Sketch inner;
  const Slot a = inner.input("x");
  const ProgramPtr twice = inner.shared({inner("add", {a, a})}, "twice");
  Sketch s;
  const Slot x = s.input("x");
  const Slot once = s("call", {x}, {{"program", {twice}}});
  const Program program = s.returning({s("call", {once}, {{"program", {twice}}})});
  EXPECT_EQ(to_text(program),
            "hom 1\n"
            "program @twice(x: f64[]) -> f64[] {\n"
            "  v1: f64[] = add(x, x)\n"
            "  return v1\n"
            "}\n"
            "(x: f64[]) -> f64[] {\n"
            "  v1: f64[] = call(x) {program = @twice}\n"
            "  v2: f64[] = call(v1) {program = @twice}\n"
            "  return v2\n"
            "}\n");
  expect_round_trip(program);
}

TEST(Text, tells_programs_of_one_name_apart) {
  Sketch s;
  Slot x = s.input("x");
  for (const char* operation : {"sin", "cos", "exp", "neg"}) {
    Sketch inner;
    const Slot a = inner.input("x");
    const bool is_odd = operation == std::string("exp");
    x = s("call", {x},
          {{"program",
            {inner.shared({inner(operation, {a})}, is_odd ? "an odd \"name\"" : "wave")}}});
  }
  const Program program = s.returning({x});
  EXPECT_THAT(to_text(program), HasSubstr("program @wave.1(x"));
  EXPECT_THAT(to_text(program), HasSubstr("program @0 \"an odd \\\"name\\\"\"(x"));
  expect_round_trip(program);
  const Program read = parse_program(to_text(program));
  EXPECT_EQ(read.step(1).attributes.program("program")->name(), "wave");
  EXPECT_EQ(read.step(2).attributes.program("program")->name(), "an odd \"name\"");
}

TEST(Text, gives_random_programs_back) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) expect_round_trip(random_program(random, i % 40));
}

TEST(Text, keeps_steps_that_the_builder_would_cancel_or_merge) {
  const Program read = parse_program(
      "hom 1\n"
      "(x: f64[]) -> f64[] {\n"
      "  one: f64[] = constant {value = 1.0, dtype = f64, shape = []}\n"
      "  a: f64[] = mul(x, one)\n"
      "  b: f64[] = mul(x, one)\n"
      "  c: f64[] = add(a, b)\n"
      "  return c\n"
      "}\n");
  EXPECT_EQ(read.step_count(), 4u);
  expect_round_trip(read);
}

TEST(Text, keeps_nested_domains_and_odd_names) {
  Builder builder;
  std::vector<Slot> inputs;
  for (const char* name : {"p.weight", "p.bias[0]", "p.bias[1]"})
    inputs.push_back(builder.add_input(f32[{2}], name));
  const Object bias = Object::product({{"", f32[{2}]}, {"", f32[{2}]}});
  const Object domain =
      Object::product({{"p", Object::product({{"weight", f32[{2}]}, {"bias", bias}})}});
  const Program program =
      std::move(builder).finish(inputs, {"f64", domain, domain.factors[0].object});
  EXPECT_EQ(to_text(program),
            "hom 1\n"
            "f64(p: (weight: f32[2], bias: (f32[2], f32[2]))) -> (weight: f32[2], bias: (f32[2], "
            "f32[2])) {\n"
            "  return p.weight, p.bias[0], p.bias[1]\n"
            "}\n");
  expect_round_trip(program);

  for (const char* name : {"", "program", "hom", "f64", "two words", "line\nbreak\t\x01\\"}) {
    Builder odd;
    const Slot a = odd.add_input(f64[{}], "v1");
    const Slot b = odd.add_input(f64[{}], "twice");
    const Slot c = odd.add_input(f64[{}], "twice");
    expect_round_trip(std::move(odd).finish(
        {c, a, b}, {name, Object::product({{"", f64[{}]}, {name, f64[{}]}, {"", f64[{}]}}), {}}));
    Builder one;
    const Slot x = one.add_input(f64[{}], name);
    expect_round_trip(std::move(one).finish({x}, {name, f64[{}], f64[{}]}));
  }
  Builder nothing;
  expect_round_trip(std::move(nothing).finish({}, {}));
}

/// A primitive with an attribute of each kind, that nothing outside this test knows.
PrimitiveTable table_with_probe() {
  PrimitiveTable table;
  table.add({.name = "probe",
             .min_operands = 0,
             .max_operands = 0,
             .attributes = {{"flag", Kind::boolean},
                            {"count", Kind::integer},
                            {"value", Kind::number},
                            {"words", Kind::string},
                            {"dtype", Kind::dtype},
                            {"shape", Kind::shape},
                            {"list", Kind::list}},
             .type = [](const Typing&) { return std::vector<TensorType>{f64[{}]}; }});
  return table;
}

TEST(Text, keeps_attributes_of_every_kind) {
  const PrimitiveTable table = table_with_probe();
  Builder builder;
  std::vector<Slot> slots;
  const std::vector<Attribute> values{{true},
                                      {std::int64_t{-3}},
                                      {INT64_MIN},
                                      {INT64_MAX},
                                      {UINT64_MAX},
                                      {0.1},
                                      {-0.0},
                                      {1.0},
                                      {1e300},
                                      {5e-324},
                                      {INFINITY},
                                      {-INFINITY},
                                      {std::nan("")},
                                      {-std::nan("")},
                                      {std::bit_cast<double>(0xfff0000000000123u)}};
  for (const Attribute& value : values) {
    const Attributes attributes{
        {"flag", {false}},
        {"count", {std::int64_t{7}}},
        {"value", value},
        {"words", {std::string("tab\t \"quoted\" \\ \n \x7f é ") + '\0' + "end # no comment"}},
        {"dtype", {bf16}},
        {"shape", {Shape{-1, 0, 1, 2, 3, 4}}},
        {"list", {AttributeList{{1.0}, {std::string("a")}, {AttributeList{}}, {Shape{}}, {u64}}}}};
    slots.push_back(builder.append(table.find("probe"), attributes, {}, Location::current(), ""));
  }
  const Program program = std::move(builder).finish(slots, {});
  EXPECT_EQ(program.step_count(), values.size());
  expect_round_trip(program, table);
}

TEST(Text, shows_the_users_lines_on_demand) {
  Sketch s;
  const Slot x = s.input("x");
  const int line = __LINE__ + 1;
  const Program program = s.returning({s("sin", {x}, {}, "forward")});
  const std::string text = to_text(program, {.lines = true});
  EXPECT_THAT(text, HasSubstr("sin(x)  # "));
  EXPECT_THAT(text, HasSubstr("text_test.cc:" + std::to_string(line) + ", in `forward`\n"));
  EXPECT_TRUE(parse_program(text) == program);
}

TEST(Text, prints_captured_tensors_by_type_and_position_only) {
  Sketch s;
  const Slot x = s.input("x", f64[{3}]);
  const Tensor w(Array::allocate(f64[{3}]));
  const Program program =
      s.returning({s("mul", {x, s.builder.capture(w, Location::current())})}, "f");
  EXPECT_THAT(to_text(program),
              HasSubstr("v1: f64[3] = captured {index = 0, dtype = f64, shape = [3]}\n"));
  expect_round_trip(program);

  const std::string text = to_text(program);
  const Tensor other(Array::allocate(f32[{3}]));
  EXPECT_THAT(message_of([&] { parse_program(text); }),
              StartsWith("program text 3:16: expected a captured tensor, but only 0 were given\n"));
  EXPECT_THAT(
      message_of([&] { parse_program(text, {other}); }),
      StartsWith(
          "program text 3:16: expected a captured f64[3], but captured tensor 0 is f32[3]\n"));
  EXPECT_THAT(message_of([&] { parse_program(text, {w, w}); }),
              StartsWith("the program text captures 1 tensors, but 2 were given\n"));
}

TEST(Text, a_million_steps_print_and_parse) {
  Sketch s;
  Slot x = s.input("x");
  for (int i = 0; i < 1'000'000; ++i) x = s("sin", {x});
  const Program program = s.returning({x});
  const std::string text = to_text(program);
  EXPECT_LT(text.size(), 40'000'000u);
  EXPECT_TRUE(parse_program(text) == program);
}

TEST(TextErrors, say_line_column_and_what_was_expected) {
  const std::string unchanged = "\n  return x\n}\n";
  const std::vector<std::tuple<std::string, std::string, std::string>> mistakes{
      {"  v1: f64[] = mull(x, x)", unchanged, "3:15: unknown primitive `mull`"},
      {"  v1: f32[] = sin(x)", unchanged,
       "3:7: expected f64[], the type that sin gives `v1`, found f32[]"},
      {"  v1: f64[] = sin(y)", unchanged,
       "3:19: `y` is not defined: expected an input or an earlier result"},
      {"  x: f64[] = sin(x)", unchanged, "3:3: `x` is defined twice: expected a new name"},
      {"", "return x } more",
       "3:12: expected the end of the text after the last program, found `more`"},
      {"", "return x", "3:9: expected `,` or `}`, found the end of the text"},
      {"  v1: f64[] sin(x)", unchanged, "3:13: expected `=`, found `sin`"},
      {"  v1: f65[] = sin(x)", unchanged, "3:7: unknown dtype `f65`"},
      {"  v1: f64[-1] = sin(x)", unchanged, "3:7: expected extents of at least 0, found f64[-1]"},
      {"  v1: f64[1.5] = sin(x)", unchanged, "3:11: expected an integer, found `1`"},
      {"  v1: f64[] = sin(x, x)", unchanged, "3:15: sin: takes 1"},
      {"  v1: f64[], v2: f64[] = sin(x)", unchanged, "3:26: sin has 1 results, but 2 are named"},
      {"  v1: f64[2] = broadcast_in_dim(x) {shape = 2, axes = []}", unchanged,
       "3:45: expected a list of integers, as in `[2, 3]` as the attribute `shape` of "
       "broadcast_in_dim, found 2"},
      {"  v1: f64[2] = broadcast_in_dim(x) {shape = [2]}", unchanged,
       "3:16: broadcast_in_dim lacks its attribute `axes`: expected a list of integers"},
      {"  v1: f64[2] = broadcast_in_dim(x) {size = [2]}", unchanged,
       "3:37: broadcast_in_dim has no attribute `size`: expected `shape`, `axes`"},
      {"  v1: f64[2] = broadcast_in_dim(x) {axes = [], axes = []}", unchanged,
       "3:48: the attribute `axes` is given twice"},
      {"  v1: f64[] = constant {value = 1.0.0, dtype = f64, shape = []}", unchanged,
       "3:33: expected a number"},
      {"  v1: f64[] = constant {value = -18446744073709551616, dtype = f64, shape = []}", unchanged,
       "3:33: expected a number that an element can hold"},
      {"  v1: f64[] = constant {value = nan(0x1), dtype = f64, shape = []}", unchanged,
       "3:36: expected the bits of a NaN"},
      {"  v1: f64[] = constant {value = \"a\\q\", dtype = f64, shape = []}", unchanged,
       "3:35: unknown escape in a string"},
      {"  v1: f64[] = constant {value = \"a", unchanged, "3:33: a string without its closing `\"`"},
      {"  v1: f64[] = call(x) {program = @f}", unchanged,
       "3:34: the program `@f` is not defined: expected its definition before its use"},
      {"  v1: f64[] = captured {index = 1, dtype = f64, shape = []}", unchanged,
       "3:15: expected index = 0"},
      {"  v1: f64[] = sin(x)", "\n return v1, v1\n}",
       "2:16: the codomain is f64[], but the program returns (f64[], f64[])"},
      {"  inputs x: f32[]", unchanged, "2:2: the domain is (x: f64[]), but the inputs are others"},
  };
  for (const auto& [line, rest, expected] : mistakes) {
    EXPECT_THAT(error_in(line, rest), StartsWith("program text " + expected)) << line;
  }
}

TEST(TextErrors, name_the_callers_line) {
  EXPECT_THAT(error_in("  v1: f64[] = sin(y)"), HasSubstr("\n  at "));
  EXPECT_THAT(error_in("  v1: f64[] = sin(y)"), HasSubstr("text_test.cc:"));
}

TEST(TextErrors, an_unknown_version_is_refused) {
  EXPECT_THAT(message_of([] { parse_program("hom 2\n() -> () { return }"); }),
              StartsWith("program text 1:5: unknown version 2 of the text form\n"));
  EXPECT_THAT(
      message_of([] { parse_program("hum 1"); }),
      StartsWith("program text 1:1: expected `hom 1`, the version of the text form, found `hum`"));
  EXPECT_THAT(message_of([] { parse_program(""); }), HasSubstr("found the end of the text"));
}

TEST(TextErrors, a_program_defined_twice_is_refused) {
  const std::string definition = "program @f() -> () { return }\n";
  EXPECT_THAT(message_of([&] {
                parse_program("hom 1\n" + definition + definition + "() -> () { return }");
              }),
              StartsWith("program text 3:9: the program `@f` is defined twice"));
}

TEST(TextErrors, deep_nesting_does_not_overflow_the_stack) {
  EXPECT_THAT(message_of([] { parse_program("hom 1\n" + std::string(1'000'000, '(')); }),
              HasSubstr("products are nested more than 200 deep"));
  EXPECT_THAT(error_in("v: f64[] = constant {value = " + std::string(1'000'000, '{')),
              HasSubstr("lists are nested more than 200 deep"));
}

TEST(TextErrors, every_truncation_and_every_lost_character_is_an_error_or_another_program) {
  std::mt19937 random(3);
  const Program program = random_program(random, 12);
  const std::string text = to_text(program);
  for (std::size_t i = 0; i + 3 < text.size(); ++i) {
    EXPECT_THROW(parse_program(text.substr(0, i), captured_tensors(program)), Error);
  }
  std::size_t errors = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string broken = text;
    broken.erase(i, 1);
    try {
      parse_program(broken, captured_tensors(program));
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, text.size() / 2);
}

}  // namespace
}  // namespace hom
