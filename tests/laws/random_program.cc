// tests/laws/random_program.cc -- random programs, each line run as it is drawn
#include "tests/laws/random_program.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <hom/core/executor.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/text.h>

namespace hom::laws {
namespace {

/// How far values keep from kinks, poles and jumps, and how large they grow.
constexpr double margin = 0.01;
constexpr double largest = 30;

const Primitive& primitive(std::string_view name) { return standard_primitives().find(name); }

bool all(const Tensor& x, const std::function<bool(double)>& holds) {
  const std::vector<double> values = x.to_vector();
  return std::all_of(values.begin(), values.end(), holds);
}

bool both(const Tensor& x, const Tensor& y, const std::function<bool(double, double)>& hold) {
  const std::vector<double> a = x.to_vector();
  const std::vector<double> b = y.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!hold(a[i], b[i])) return false;
  }
  return true;
}

bool far_from_integer(double v) { return std::abs(v - std::round(v)) > margin; }
bool apart(double a, double b) { return std::abs(a - b) > margin; }

/// Whether no two elements of a group are near each other; groups are the elements alike in all axes but `axes`.
bool apart_in_groups(const Tensor& x, const Shape& axes) {
  const Shape shape = x.shape();
  const std::vector<double> values = x.to_vector();
  std::map<std::int64_t, std::vector<double>> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i);
    std::int64_t group = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const std::int64_t index = rest % shape[axis];
      rest /= shape[axis];
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) == axes.end()) group = group * 101 + index;
    }
    groups[group].push_back(values[i]);
  }
  for (auto& [key, group] : groups) {
    std::sort(group.begin(), group.end());
    for (std::size_t i = 1; i < group.size(); ++i) {
      if (!apart(group[i - 1], group[i])) return false;
    }
  }
  return true;
}

bool all_apart(std::vector<double> values, const std::vector<double>& others) {
  values.insert(values.end(), others.begin(), others.end());
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end(), [](double a, double b) { return !apart(a, b); }) == values.end();
}

/// Whether a step has derivatives of every order in a neighbourhood of its operands.
bool is_smooth_at(const Primitive& p, const Attributes& attributes, std::span<const Tensor> x) {
  const std::string& name = p.name;
  if (x.empty() || std::none_of(x.begin(), x.end(), [](const Tensor& t) { return t.dtype().is_float(); })) return true;
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
  };
  const auto shaped = [&](const char* attribute) { return attributes.shape(attribute); };
  if (is({"abs", "sign"})) return all(x[0], [](double v) { return std::abs(v) > margin; });
  if (is({"floor", "ceil"})) return all(x[0], far_from_integer);
  if (name == "round") return all(x[0], [](double v) { return far_from_integer(v + 0.5); });
  if (name == "convert") {
    const Dtype to = attributes.dtype("dtype");
    if (to.is_float()) return true;
    return to.is_bool() ? all(x[0], [](double v) { return std::abs(v) > margin; }) : all(x[0], far_from_integer);
  }
  if (is({"sqrt", "rsqrt", "log"})) return all(x[0], [](double v) { return v > 0.1; });
  if (name == "log1p") return all(x[0], [](double v) { return v > -0.9; });
  if (is({"asin", "acos", "atanh"})) return all(x[0], [](double v) { return std::abs(v) < 0.9; });
  if (name == "acosh") return all(x[0], [](double v) { return v > 1.1; });
  if (name == "tan") return all(x[0], [](double v) { return std::abs(std::cos(v)) > 0.3; });
  if (name == "div") return all(x[1], [](double v) { return std::abs(v) > 0.2; });
  if (name == "rem") return both(x[0], x[1], [](double a, double b) { return std::abs(b) > 0.2 && far_from_integer(a / b); });
  if (name == "pow") return all(x[0], [](double v) { return v > 0.1; });
  if (name == "atan2") return both(x[0], x[1], [](double a, double b) { return a * a + b * b > 0.05; });
  if (is({"max", "min", "eq", "ne", "lt", "le", "gt", "ge"})) return both(x[0], x[1], apart);
  if (is({"reduce_max", "reduce_min"})) return apart_in_groups(x[0], shaped("axes"));
  if (is({"argmax", "argmin", "cummax", "cummin"})) return apart_in_groups(x[0], {attributes.integer("axis")});
  if (name == "scatter" && attributes.string("combine").starts_with("m") && attributes.string("combine") != "mul") {
    return all_apart(x[0].to_vector(), x[2].to_vector());
  }
  return true;
}

bool is_moderate(const Tensor& x) {
  return !x.dtype().is_float() || all(x, [](double v) { return std::abs(v) < largest; });
}

bool has_nan(const Tensor& x) {
  return x.dtype().is_float() && !all(x, [](double v) { return !std::isnan(v); });
}

class Drawing {
 public:
  explicit Drawing(const Wish& wish) : wish_(wish) {
    for (const Primitive* p : standard_primitives().all()) {
      const bool wished = wish.primitives.empty() || std::count(wish.primitives.begin(), wish.primitives.end(), p->name);
      if (wished && !std::count(wish.without.begin(), wish.without.end(), p->name)) pool_.push_back(p);
    }
  }

  RandomProgram program;

  std::size_t input(const Tensor& value) {
    program.inputs.push_back(value);
    return define({}, {value});
  }

  /// The first value of the new line, unless it raises or is not smooth.
  std::optional<std::size_t> line(const Primitive& p, const Attributes& attributes, const std::vector<std::size_t>& operands) {
    std::vector<Tensor> x;
    for (std::size_t value : operands) x.push_back(now_[value]);
    if (wish_.domain == Domain::smooth && !is_smooth_at(p, attributes, x)) return std::nullopt;
    // The payload of a NaN may depend on the order of operands, and bits would show it.
    if (p.name == "bitcast" && has_nan(x[0])) return std::nullopt;
    TensorList results;
    try {
      results = apply(p, attributes, x, Location::current());
    } catch (const Error&) {
      return std::nullopt;
    }
    // Nothing grows beyond the limit.
    std::int64_t limit = x.empty() ? INT64_MAX : wish_.max_size;
    for (const Tensor& operand : x) limit = std::max(limit, operand.size());
    for (const Tensor& y : results) {
      if (y.size() > limit || (wish_.domain != Domain::wild && !is_moderate(y))) return std::nullopt;
    }
    return define({&p, attributes, operands, {}, results.size()}, results);
  }

  std::optional<std::size_t> line(const char* name, const std::vector<std::size_t>& operands) {
    return line(primitive(name), {}, operands);
  }

  std::size_t closure(const Primitive& p, const Attributes& attributes, const Tensor& value) {
    return define({&p, attributes, {}, value, 1}, {value});
  }

  /// One random line of `p` on the value `data` or, for leaves, of its type.
  bool step(const Primitive& p, std::size_t data, Choices& choices) {
    if (p.name == "call" || p.name == "cond") return control(p, data, choices);
    data = within_domain(p, data, choices);
    const std::optional<StepSketch> sketch = random_step(p, type(data), wish_.domain, choices);
    if (!sketch) return false;
    if (p.name == "captured") {
      closure(p, sketch->attributes, random_tensor(type(data), wish_.domain, choices));
      return true;
    }
    std::vector<std::size_t> operands;
    for (std::size_t i = 0; i < sketch->operands.size(); ++i) {
      const bool is_data = static_cast<int>(i) == sketch->data;
      std::size_t operand = is_data ? data : find(sketch->operands[i], choices);
      if (i == 1 && wish_.domain == Domain::smooth && (p.name == "div" || p.name == "rem")) operand = above_half(operand);
      operands.push_back(operand);
    }
    return line(p, sketch->attributes, operands).has_value();
  }

  std::size_t count() const { return now_.size(); }
  const TensorType& type(std::size_t value) const { return program.types[value]; }
  const Tensor& value(std::size_t i) const { return now_[i]; }

  /// A value of the pool, recent ones more often.
  std::size_t any(Choices& choices) const {
    const auto n = static_cast<std::int64_t>(count());
    const std::int64_t back = choices.one_in(2) ? choices.below(std::min<std::int64_t>(n, 4)) : choices.below(n);
    return static_cast<std::size_t>(n - 1 - back);
  }

  /// A value for the data operand of `p`.
  std::size_t data_for(const Primitive& p, Choices& choices) {
    for (int attempt = 0; attempt < 12; ++attempt) {
      const std::size_t candidate = any(choices);
      const Dtype dtype = type(candidate).dtype;
      if (p.dtypes.contains(dtype) && (attempt > 3 || dtype.is_float() || choices.one_in(3))) return candidate;
    }
    Dtype dtype = choices.among(all_dtypes);
    const bool floats_only_f64 = wish_.domain == Domain::smooth;
    while (!p.dtypes.contains(dtype) || (floats_only_f64 && dtype.is_float() && dtype != f64)) dtype = choices.among(all_dtypes);
    return input(random_tensor(dtype[random_shape(size(choices), choices)], wish_.domain, choices));
  }

  const Primitive& random_primitive(Choices& choices) const { return *choices.among(pool_); }

  SizeClass size(Choices& choices) const {
    const SizeClass drawn = choices.among(all_size_classes);
    const bool rather_not = drawn == SizeClass::zero || drawn == SizeClass::large;
    return rather_not && !choices.one_in(4) ? SizeClass::small : drawn;
  }

 private:
  std::size_t define(RandomProgram::Line line, const TensorList& results) {
    program.lines.push_back(std::move(line));
    const std::size_t first = count();
    for (const Tensor& y : results) {
      now_.push_back(y);
      program.types.push_back(y.type());
    }
    return first;
  }

  /// A value of the operand's type: one of the pool where it may be, else a new input.
  std::size_t find(const OperandSketch& operand, Choices& choices) {
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < count(); ++i) {
      if (type(i) == operand.type) fitting.push_back(i);
    }
    const bool any_value = operand.is_plain() || (!operand.inside && !operand.is_exponent);
    if (any_value && !fitting.empty() && !choices.one_in(5)) return choices.among(fitting);
    if (operand.is_plain() && wish_.simplifiable && choices.one_in(2)) {
      StepSketch literal = *random_step(primitive("constant"), operand.type, wish_.domain, choices);
      if (const auto made = line(*literal.primitive, literal.attributes, {})) return *made;
    }
    return input(operand.value(wish_.domain, choices));
  }

  std::size_t number(double value, std::size_t like) {
    return *line(primitive("constant"), {{"value", {value}}, {"dtype", {type(like).dtype}}, {"shape", {type(like).shape}}}, {});
  }
  /// x² + ½
  std::size_t above_half(std::size_t x) {
    if (!type(x).dtype.is_float()) return x;
    const auto square = line("mul", {x, x});
    return square ? line("add", {*square, number(0.5, *square)}).value_or(x) : x;
  }

  /// In smooth programs: the value moved to where `p` is smooth.
  std::size_t within_domain(const Primitive& p, std::size_t x, Choices&) {
    if (wish_.domain != Domain::smooth || !type(x).dtype.is_float()) return x;
    const std::string& name = p.name;
    if (name == "sqrt" || name == "rsqrt" || name == "log" || name == "pow" || name == "log1p") return above_half(x);
    if (name == "acosh") {
      const std::size_t above = above_half(x);
      return line("add", {above, number(1, above)}).value_or(x);
    }
    if (name == "asin" || name == "acos" || name == "atanh" || name == "tan") {
      const auto bounded = line("tanh", {x});
      return bounded ? line("mul", {*bounded, number(0.8, *bounded)}).value_or(x) : x;
    }
    return x;
  }

  /// `call` and `cond` of random bodies with a few values as operands.
  bool control(const Primitive& p, std::size_t data, Choices& choices) {
    if (wish_.depth == 0) return false;
    std::vector<std::size_t> operands{data};
    for (std::int64_t more = choices.below(3); more > 0; --more) operands.push_back(any(choices));
    Wish inner = wish_;
    inner.depth -= 1;
    inner.inputs.clear();
    for (std::size_t operand : operands) inner.inputs.push_back(now_[operand]);
    const auto body = [&](const std::vector<TensorType>* results) -> std::optional<RandomProgram> {
      Drawing drawing(inner);
      for (const Tensor& x : inner.inputs) drawing.input(x);
      const std::size_t lines = static_cast<std::size_t>(choices.between(1, 4));
      for (std::size_t attempt = 0, drawn = 0; attempt < 4 * lines && drawn < lines; ++attempt) {
        const std::size_t before = drawing.program.inputs.size();
        Drawing saved = drawing;
        const Primitive& q = *choices.among(pool_);
        const std::size_t on = drawing.any(choices);
        // Bodies take no more than the operands.
        if (!q.dtypes.contains(drawing.type(on).dtype) || !drawing.step(q, on, choices) || drawing.program.inputs.size() != before) {
          drawing.program = std::move(saved.program);
          drawing.now_ = std::move(saved.now_);
          continue;
        }
        ++drawn;
      }
      RandomProgram made = std::move(drawing.program);
      if (!results) {
        made.outputs.push_back(made.types.size() - 1);
        for (std::int64_t more = choices.below(2); more > 0; --more) {
          made.outputs.push_back(static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(made.types.size()))));
        }
        return made;
      }
      for (const TensorType& wanted : *results) {
        std::size_t i = made.types.size();
        while (i > 0 && made.types[i - 1] != wanted) --i;
        if (i == 0) return std::nullopt;
        made.outputs.push_back(i - 1);
      }
      return made;
    };
    const auto shared = [](const RandomProgram& made) { return std::make_shared<const Program>(made.program()); };
    const std::optional<RandomProgram> first = body(nullptr);
    if (p.name == "call") return line(p, {{"program", {shared(*first)}}}, operands).has_value();
    std::vector<TensorType> results;
    for (std::size_t output : first->outputs) results.push_back(first->types[output]);
    const std::optional<RandomProgram> second = body(&results);
    if (!second) return false;
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < count(); ++i) {
      if (type(i) == bool_[{}]) fitting.push_back(i);
    }
    const std::size_t predicate = fitting.empty() ? input(random_tensor(bool_[{}], wish_.domain, choices)) : choices.among(fitting);
    operands.insert(operands.begin(), predicate);
    const ProgramPtr one = shared(*first);
    const ProgramPtr other = shared(*second);
    return line(p, {{"then", {one}}, {"otherwise", {other}}}, operands).has_value();
  }

  Wish wish_;
  std::vector<const Primitive*> pool_;
  std::vector<Tensor> now_;
};

void add_outputs(Drawing& drawing, Choices& choices) {
  RandomProgram& program = drawing.program;
  std::vector<bool> used(program.types.size());
  for (const RandomProgram::Line& line : program.lines) {
    for (std::size_t operand : line.operands) used[operand] = true;
  }
  std::size_t value = 0;
  for (const RandomProgram::Line& line : program.lines) {
    for (std::size_t r = 0; r < line.results; ++r, ++value) {
      if (line.primitive && !used[value]) program.outputs.push_back(value);
    }
  }
  program.outputs.push_back(drawing.any(choices));
}

std::string show(const Recipe& recipe) {
  std::string text = "recipe {";
  for (std::uint64_t seed : recipe.seeds) text += (text.back() == '{' ? "" : ", ") + std::to_string(seed) + "u";
  return text + "}";
}

}  // namespace

std::vector<Tensor> RandomProgram::values(std::span<const Tensor> arguments) const {
  std::vector<Tensor> all;
  std::size_t next = 0;
  for (const Line& line : lines) {
    if (!line.primitive) {
      all.push_back(arguments[next++]);
    } else if (!line.closure.is_empty()) {
      all.push_back(line.closure);
    } else {
      std::vector<Tensor> operands;
      for (std::size_t value : line.operands) operands.push_back(all[value]);
      for (const Tensor& y : apply(*line.primitive, line.attributes, operands, Location::current())) all.push_back(y);
    }
  }
  return all;
}

std::vector<Tensor> RandomProgram::operator()(std::span<const Tensor> arguments) const {
  const std::vector<Tensor> all = values(arguments);
  std::vector<Tensor> results;
  for (std::size_t output : outputs) results.push_back(all[output]);
  return results;
}

Program RandomProgram::program(const std::vector<std::size_t>& wanted) const {
  Capture capture(Location::current());
  std::vector<Tensor> arguments;
  for (const Tensor& x : inputs) arguments.push_back(capture.input(x.type(), "x" + std::to_string(arguments.size())));
  const std::vector<Tensor> all = values(arguments);
  std::vector<Tensor> results;
  for (std::size_t output : wanted) results.push_back(all[output]);
  return capture.finish(results, {}, Location::current()).program;
}

Program RandomProgram::program_as_it_stands() const {
  Builder builder;
  std::vector<Slot> slots;
  for (const Line& line : lines) {
    if (!line.primitive) {
      slots.push_back(builder.add_input(types[slots.size()], "x" + std::to_string(slots.size())));
    } else if (!line.closure.is_empty()) {
      slots.push_back(builder.capture(line.closure, Location::current()));
    } else {
      std::vector<Slot> operands;
      for (std::size_t value : line.operands) operands.push_back(slots[value]);
      const Slot first = builder.append_exactly(*line.primitive, line.attributes, operands, Location::current(), "");
      const std::uint32_t results = builder.definition(first)->result_count;
      for (std::uint32_t r = 0; r < results; ++r) slots.push_back(first + r);
    }
  }
  std::vector<Slot> results;
  for (std::size_t output : outputs) results.push_back(slots[output]);
  return std::move(builder).finish(std::move(results), {});
}

RandomProgram random_program(const Recipe& recipe, const Wish& wish) {
  Drawing drawing(wish);
  Choices inputs(recipe.seeds.empty() ? 0 : recipe.seeds[0]);
  for (const Tensor& x : wish.inputs) drawing.input(x);
  for (std::int64_t more = wish.inputs.empty() ? inputs.between(1, 3) : 0; more > 0; --more) {
    const Dtype dtype = wish.domain == Domain::smooth || inputs.one_in(3) ? f64 : inputs.among(all_dtypes);
    drawing.input(random_tensor(dtype[random_shape(drawing.size(inputs), inputs)], wish.domain, inputs));
  }
  for (std::size_t i = 1; i < recipe.seeds.size(); ++i) {
    Choices choices(recipe.seeds[i]);
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Primitive& p = drawing.random_primitive(choices);
      if (drawing.step(p, drawing.data_for(p, choices), choices)) break;
    }
  }
  add_outputs(drawing, inputs);
  return std::move(drawing.program);
}

std::optional<RandomProgram> single_step(const Primitive& p, const TensorType& data, const Wish& wish, Choices& choices) {
  Drawing drawing(wish);
  const std::size_t x = drawing.input(random_tensor(data, wish.domain, choices));
  if (!drawing.step(p, x, choices)) return std::nullopt;
  const std::size_t results = drawing.program.lines.back().results;
  for (std::size_t i = drawing.count() - results; i < drawing.count(); ++i) drawing.program.outputs.push_back(i);
  return std::move(drawing.program);
}

std::string text_of(const RandomProgram& program) {
  std::string text = "as drawn:\n" + to_text(program.program_as_it_stands()) + "as captured:\n" + to_text(program.program());
  for (const Tensor& x : program.inputs) text += "  at " + to_string(x) + "\n";
  return text;
}

std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("HOM_SEED");
    if (!given) return std::uint64_t{1};
    if (std::string(given) == "random") return std::uint64_t{std::random_device()()};
    return std::uint64_t{std::strtoull(given, nullptr, 10)};
  }();
  return seed;
}

int case_factor() {
  const char* given = std::getenv("HOM_CASES");
  return given ? std::max(1, std::atoi(given)) : 1;
}

void for_random_programs(const char* law, int cases, int max_lines, const Wish& wish, const Property& property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (!std::getenv("RC_PARAMS")) {
    params.seed = run_seed();
    params.maxSuccess = cases * case_factor();
  }
  rc::detail::TestMetadata metadata;
  metadata.id = law;
  metadata.description = law;
  const auto seed = rc::gen::noShrink(rc::gen::resize(100, rc::gen::arbitrary<std::uint64_t>()));
  const auto recipes = rc::gen::scale(max_lines / 100.0, rc::gen::container<std::vector<std::uint64_t>>(seed));
  const auto testable = [&] {
    const Recipe recipe{*recipes};
    const RandomProgram program = random_program(recipe, wish);
    Choices choices(recipe.seeds.empty() ? 0 : recipe.seeds[0] + 1);
    std::string wrong;
    try {
      wrong = property(program, choices);
    } catch (const std::exception& error) {
      wrong = std::string("it throws: ") + error.what();
    }
    if (wrong.empty()) return;
    RC_FAIL(wrong + "\nin the program of the " + show(recipe) + "\n" + text_of(program));
  };
  std::cout << law << ": " << params.maxSuccess << " programs, HOM_SEED=" << run_seed() << "\n";
  const rc::detail::TestResult result = rc::detail::checkTestable(testable, metadata, params);
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  EXPECT_TRUE(result.is<rc::detail::SuccessResult>())
      << law << ", HOM_SEED=" << run_seed() << " (or replay by RC_PARAMS as printed below): " << message.str();
}

}  // namespace hom::laws
