// tests/unit/syntax_test.cc -- point-free expressions: their normal form, their length, and that
// they mean the program
#include <hom/categories/syntax.h>

#include <map>
#include <tuple>

#include "program_support.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hom/core/operations/elementwise.h>

namespace hom {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++n;
  return n;
}

TEST(Syntax, of_lambdas_is_that_of_the_paper) {
  const TensorType real = f64[{}];
  EXPECT_EQ(syntax([](Tensor x, Tensor y) { return cos(x + y * x); }, real, real),
            "cos . add . (exl △ mul . (exr △ exl))");
  EXPECT_EQ(syntax([](Tensor x) { return x * x; }, real), "mul . (id △ id)");
  EXPECT_EQ(syntax([](Tensor x, Tensor y) { return x * x + y * y; }, real, real),
            "add . (mul . (exl △ exl) △ mul . (exr △ exr))");
  EXPECT_EQ(
      syntax([](Tensor x, Tensor y) { return std::tuple{cos(x * y), sin(x * y)}; }, real, real),
      "(cos △ sin) . mul");
}

TEST(Syntax, identities_and_projections_cancel) {
  const auto of = [](auto build) {
    Sketch s;
    const Slot x = s.input("x");
    const Slot y = s.input("y");
    return syntax(s.returning(build(s, x, y)));
  };
  using Slots = std::vector<Slot>;
  EXPECT_EQ(of([](Sketch&, Slot x, Slot y) { return Slots{x, y}; }), "id");
  EXPECT_EQ(of([](Sketch&, Slot x, Slot y) { return Slots{y, x}; }), "exr △ exl");
  EXPECT_EQ(of([](Sketch&, Slot, Slot y) { return Slots{y}; }), "exr");
  EXPECT_EQ(of([](Sketch&, Slot, Slot) { return Slots{}; }), "it");
  EXPECT_EQ(of([](Sketch& s, Slot x, Slot y) { return Slots{s("add", {x, y})}; }), "add");
  EXPECT_EQ(of([](Sketch& s, Slot x, Slot y) { return Slots{s("add", {y, x})}; }),
            "add . (exr △ exl)");
}

TEST(Syntax, what_a_fork_shares_is_factored_out) {
  Sketch s;
  const Slot x = s.input("x");
  const Slot y = s.input("y");
  const Slot v = s("sin", {y});
  EXPECT_EQ(syntax(s.returning({s("add", {x, s("mul", {v, v})})})),
            "add . (exl △ mul . (id △ id) . sin . exr)");

  Sketch t;
  const Slot z = t.input("x");
  const Slot e = t("exp", {z});
  EXPECT_EQ(syntax(t.returning({t("sin", {e}), e, t.constant({2.0})})),
            "(sin △ id △ const 2.0) . exp");
}

TEST(Syntax, what_is_shared_further_apart_gets_a_name) {
  Sketch s;
  const Slot x = s.input("x");
  const Slot y = s.input("y");
  const Slot v = s("sin", {y});
  EXPECT_EQ(syntax(s.returning({s("add", {s("add", {x, s("mul", {v, v})}), s("exp", {v})})})),
            "add . (add . (exl △ mul . (v2 △ v2)) △ exp . v2)\n"
            "  where\n"
            "    v2 = sin . exr");
}

TEST(Syntax, steps_with_several_results_are_projected) {
  Sketch s;
  const Slot x = s.input("x");
  const Slot y = s.input("y");
  const Slot pair = s("barrier", {y, x});
  EXPECT_EQ(syntax(s.returning({s("add", {pair, pair + 1}), s("mul", {pair + 1, pair})})),
            "(add △ mul . (exr △ exl)) . barrier . (exr △ exl)");
}

TEST(Syntax, projects_fields_by_their_labels_and_keeps_products_nested) {
  Builder b;
  const Slot weight = b.add_input(f64[{}], "p.weight");
  const Slot bias = b.add_input(f64[{}], "p.bias");
  const Slot x = b.add_input(f64[{}], "x");
  const Object affine = Object::product({{"weight", f64[{}]}, {"bias", f64[{}]}});
  const Object domain = Object::product({{"p", affine}, {"x", f64[{}]}});
  const Location at = Location::current();
  const Slot product = b.append(standard_primitives().find("mul"), {}, {x, weight}, at);
  const Slot sum = b.append(standard_primitives().find("add"), {}, {product, bias}, at);
  const Slot both = b.append(standard_primitives().find("sub"), {}, {weight, bias}, at);
  const Object codomain = Object::product(
      {{"", affine}, {"", f64[{}]}, {"", Object::product({{"", f64[{}]}, {"", f64[{}]}})}});
  const Program program = std::move(b).finish({weight, bias, sum, both, x}, {"", domain, codomain});
  EXPECT_EQ(syntax(program),
            "exl △ add . (mul . (exr △ weight . exl) △ bias . exl) △ (sub . exl △ exr)");
}

TEST(Syntax, three_arguments_are_a_flat_product) {
  Sketch s;
  const Slot x = s.input("x");
  const Slot y = s.input("y");
  const Slot z = s.input("z");
  EXPECT_EQ(syntax(s.returning({z, s("add", {x, y})})), "ex2 △ add . (ex0 △ ex1)");
}

TEST(Syntax, attributes_are_subscripts) {
  Sketch s;
  const Slot x = s.input("x");
  EXPECT_EQ(syntax(s.returning({s.sum(s.spread(x, 3))})),
            "reduce_sum[axes=[0]] . broadcast_in_dim[shape=[3], axes=[]]");
}

TEST(Syntax, called_programs_are_arrows_of_their_name) {
  Sketch inner;
  const Slot a = inner.input("x");
  const Slot e = inner("exp", {a});
  const Slot f = inner("sin", {e});
  const ProgramPtr wave =
      inner.shared({inner("add", {inner("mul", {f, a}), inner("mul", {f, e})})}, "wave");
  Sketch s;
  const Slot x = s.input("x");
  const Slot once = s("call", {x}, {{"program", {wave}}});
  EXPECT_EQ(syntax(s.returning({s("call", {once}, {{"program", {wave}}})})),
            "wave . wave\n"
            "  where\n"
            "    wave = add . (mul . (v2 △ id) △ mul . (v2 △ v1))\n"
            "      where\n"
            "        v2 = sin . v1\n"
            "        v1 = exp");
}

TEST(Syntax, deep_forks_go_on_in_a_named_arrow) {
  Sketch s;
  Slot x = s.input("x");
  const Slot y = s.input("y");
  for (int i = 0; i < 5; ++i) x = s("add", {y, s("sin", {x})});
  EXPECT_EQ(syntax(s.returning({x}), {.max_depth = 2}),
            "add . (exr △ sin . add . (exr △ v8))\n"
            "  where\n"
            "    v8 = sin . add . (exr △ sin . add . (exr △ v4))\n"
            "    v4 = sin . add . (exr △ sin . exl)");
}

TEST(Syntax, a_million_steps_have_linear_length) {
  for (int kind = 0; kind < 4; ++kind) {
    const int n = kind == 0 ? 1'000'000 : 100'000;
    Sketch s;
    Slot x = s.input("x");
    const Slot y = s.input("y");
    Slot older = y;
    for (int i = 0; i < n; ++i) {
      Slot next = x;
      if (kind == 0) next = s("sin", {x});
      if (kind == 1) next = s("add", {x, x});
      if (kind == 2) next = s("add", {y, x});
      if (kind == 3) next = s("add", {x, std::exchange(older, x)});
      x = next;
    }
    const std::string text = syntax(s.returning({x}));
    EXPECT_EQ(count(text, kind == 0 ? "sin" : "add"), static_cast<std::size_t>(n));
    EXPECT_LT(text.size(), std::size_t{60} * static_cast<std::size_t>(n));
  }
}

/// Reads point-free syntax back and runs it on terms: a value is the number of a term, or a tuple
/// of values.
class Reader {
 public:
  struct Value {
    int term = -1;
    std::vector<Value> parts = {};
    bool operator==(const Value&) const = default;
  };

  /// The term of an operation on terms; equal ones have equal numbers.
  int term(const std::string& operation, const std::vector<int>& operands) {
    return terms_.emplace(std::pair(operation, operands), static_cast<int>(terms_.size()))
        .first->second;
  }

  Value run(const std::string& text, const Value& input) {
    std::size_t end = text.find("\n  where");
    const std::string expression = text.substr(0, end);
    where_.clear();
    while (end != std::string::npos) {
      const std::size_t begin = text.find("\n    ", end);
      if (begin == std::string::npos) break;
      end = text.find('\n', begin + 5);
      const std::string line =
          text.substr(begin + 5, end == std::string::npos ? end : end - begin - 5);
      where_[line.substr(0, line.find(" = "))] = line.substr(line.find(" = ") + 3);
    }
    return fork(expression, input);
  }

 private:
  static std::vector<std::string> split(const std::string& text, const std::string& separator) {
    std::vector<std::string> parts{""};
    int depth = 0;
    for (std::size_t i = 0; i < text.size();) {
      depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
      if (depth == 0 && text.compare(i, separator.size(), separator) == 0) {
        parts.emplace_back();
        i += separator.size();
      } else {
        parts.back() += text[i++];
      }
    }
    return parts;
  }

  Value fork(const std::string& text, const Value& input) {
    const std::vector<std::string> parts = split(text, " △ ");
    if (parts.size() == 1) return composition(text, input);
    Value result;
    for (const std::string& part : parts) result.parts.push_back(composition(part, input));
    return result;
  }

  Value composition(const std::string& text, Value value) {
    const std::vector<std::string> arrows = split(text, " . ");
    for (std::size_t i = arrows.size(); i-- > 0;) value = arrow(arrows[i], value);
    return value;
  }

  Value arrow(const std::string& name, const Value& input) {
    if (name[0] == '(') return fork(name.substr(1, name.size() - 2), input);
    if (name == "id") return input;
    if (name == "exl") return input.parts.at(0);
    if (name == "exr") return input.parts.at(1);
    if (name.starts_with("ex") && std::isdigit(name[2]))
      return input.parts.at(std::stoul(name.substr(2)));
    if (const auto named = where_.find(name); named != where_.end())
      return fork(named->second, input);
    std::vector<int> operands;
    if (!name.starts_with("const ") && !name.starts_with("captured[")) {
      for (const Value& part : input.parts.empty() ? std::vector{input} : input.parts)
        operands.push_back(part.term);
    }
    if (name != "barrier") return {term(name, operands)};
    Value result;
    for (std::size_t r = 0; r < operands.size(); ++r)
      result.parts.push_back({term(name + std::to_string(r), operands)});
    return result;
  }

  std::map<std::pair<std::string, std::vector<int>>, int> terms_;
  std::map<std::string, std::string> where_;
};

std::string arrow_of(const Step& step) {
  if (step.primitive.name == "constant") return "const " + to_string(step.attributes.get("value"));
  if (step.primitive.name == "captured")
    return "captured[" + to_string(step.attributes.get("index")) + "]";
  std::string text;
  for (const auto& [name, value] : step.attributes)
    text += (text.empty() ? "[" : ", ") + std::string(name) + "=" + to_string(value);
  return step.primitive.name + text + (text.empty() ? "" : "]");
}

TEST(Syntax, means_the_program) {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    const Program program = random_program(random, i % 50, 0);
    Reader reader;
    Reader::Value input;
    std::vector<int> terms(program.slot_count());
    for (Slot slot : program.inputs())
      input.parts.push_back({terms[slot] = reader.term("input " + std::to_string(slot), {})});
    for (std::size_t k = 0; k < program.step_count(); ++k) {
      const Step step = program.step(k);
      std::vector<int> operands;
      for (Slot slot : step.operands) operands.push_back(terms[slot]);
      for (Slot r = 0; r < step.result_count; ++r) {
        terms[step.first_result + r] = reader.term(
            arrow_of(step) + (step.result_count > 1 ? std::to_string(r) : ""), operands);
      }
    }
    Reader::Value expected;
    for (Slot slot : program.outputs()) expected.parts.push_back({terms[slot]});
    for (int depth : {1, 8}) {
      const std::string text = syntax(program, {.max_depth = depth});
      EXPECT_EQ(reader.run(text, input), expected) << text;
    }
  }
}

TEST(Syntax, writes_every_step_once) {
  std::mt19937 random(9);
  for (int i = 0; i < 200; ++i) {
    const Program program = random_program(random, i % 60, 0);
    const std::string text = syntax(program);
    for (const char* name : {"sin", "add", "mul", "barrier", "reduce_sum", "broadcast_in_dim"}) {
      std::size_t steps = 0;
      for (std::size_t k = 0; k < program.step_count(); ++k)
        steps += program.step(k).primitive.name == name;
      EXPECT_EQ(count(text, name), steps) << name << " in " << text;
    }
  }
}

}  // namespace
}  // namespace hom
