// tests/laws/random_program.cc -- random programs, each line run as it is drawn
#include <hom/tests/laws/random_program.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <hom/core/executor.h>

namespace hom::laws {
namespace {

/// How large values grow where they have to be differentiated.
constexpr double largest = 30;

const Primitive& primitive(std::string_view name) { return standard_primitives().find(name); }

bool all(const Tensor& x, const std::function<bool(double)>& holds) {
  const std::vector<double> values = x.to_vector();
  return std::all_of(values.begin(), values.end(), holds);
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
      const bool wished = wish.primitives.empty() ||
                          std::count(wish.primitives.begin(), wish.primitives.end(), p->name);
      if (wished && !std::count(wish.without.begin(), wish.without.end(), p->name))
        pool_.push_back(p);
    }
  }

  RandomProgram program;

  std::size_t input(const Tensor& value) {
    program.inputs.push_back(value);
    return define({}, {value});
  }

  /// The first value of the new line, unless it raises or is not smooth.
  std::optional<std::size_t> line(const Primitive& p, const Attributes& attributes,
                                  const std::vector<std::size_t>& operands) {
    std::vector<Tensor> x;
    for (std::size_t value : operands) x.push_back(now_[value]);
    if (wish_.domain == Domain::smooth && !is_smooth_at(p, attributes, x)) return std::nullopt;
    // The payload of a NaN may depend on the order of operands, and bits would show it.
    if (p.name == "bitcast" && has_nan(x[0])) return std::nullopt;
    // The one simplification that may change a bit: scale by a literal 0 is +0, whatever the sign
    // of the other operand.
    if (p.name == "scale" && wish_.domain == Domain::wild) {
      for (std::size_t value : operands) {
        if (!is_input_[value] && all(now_[value], [](double v) { return v == 0; }))
          return std::nullopt;
      }
    }
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
      if (y.size() > limit || (wish_.domain != Domain::wild && !is_moderate(y)))
        return std::nullopt;
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
      if (i == 1 && wish_.domain == Domain::smooth && (p.name == "div" || p.name == "rem"))
        operand = above_half(operand);
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
    const std::int64_t back =
        choices.one_in(2) ? choices.below(std::min<std::int64_t>(n, 4)) : choices.below(n);
    return static_cast<std::size_t>(n - 1 - back);
  }

  /// A value for the data operand of `p`.
  std::size_t data_for(const Primitive& p, Choices& choices) {
    for (int attempt = 0; attempt < 12; ++attempt) {
      const std::size_t candidate = any(choices);
      const Dtype dtype = type(candidate).dtype;
      if (p.dtypes.contains(dtype) && (attempt > 3 || dtype.is_float() || choices.one_in(3)))
        return candidate;
    }
    Dtype dtype = choices.among(all_dtypes);
    const bool floats_only_f64 = wish_.domain == Domain::smooth;
    while (!p.dtypes.contains(dtype) || (floats_only_f64 && dtype.is_float() && dtype != f64))
      dtype = choices.among(all_dtypes);
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
    const bool is_input = !program.lines.back().primitive;
    for (const Tensor& y : results) {
      now_.push_back(y);
      is_input_.push_back(is_input);
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
    return *line(primitive("constant"),
                 {{"value", {value}}, {"dtype", {type(like).dtype}}, {"shape", {type(like).shape}}},
                 {});
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
    if (name == "sqrt" || name == "rsqrt" || name == "log" || name == "pow" || name == "log1p")
      return above_half(x);
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
        if (!q.dtypes.contains(drawing.type(on).dtype) || !drawing.step(q, on, choices) ||
            drawing.program.inputs.size() != before) {
          drawing.program = std::move(saved.program);
          drawing.now_ = std::move(saved.now_);
          drawing.is_input_ = std::move(saved.is_input_);
          continue;
        }
        ++drawn;
      }
      RandomProgram made = std::move(drawing.program);
      if (!results) {
        made.outputs.push_back(made.types.size() - 1);
        for (std::int64_t more = choices.below(2); more > 0; --more) {
          made.outputs.push_back(static_cast<std::size_t>(
              choices.below(static_cast<std::int64_t>(made.types.size()))));
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
    const auto shared = [](const RandomProgram& made) {
      return std::make_shared<const Program>(made.program());
    };
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
    const std::size_t predicate = fitting.empty()
                                      ? input(random_tensor(bool_[{}], wish_.domain, choices))
                                      : choices.among(fitting);
    operands.insert(operands.begin(), predicate);
    const ProgramPtr one = shared(*first);
    const ProgramPtr other = shared(*second);
    return line(p, {{"then", {one}}, {"otherwise", {other}}}, operands).has_value();
  }

  Wish wish_;
  std::vector<const Primitive*> pool_;
  std::vector<Tensor> now_;
  std::vector<bool> is_input_;
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
      for (const Tensor& y : apply(*line.primitive, line.attributes, operands, Location::current()))
        all.push_back(y);
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
  for (const Tensor& x : inputs)
    arguments.push_back(capture.input(x.type(), "x" + std::to_string(arguments.size())));
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
      const Slot first = builder.append_exactly(*line.primitive, line.attributes, operands,
                                                Location::current(), "");
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
    const Dtype dtype =
        wish.domain == Domain::smooth || inputs.one_in(3) ? f64 : inputs.among(all_dtypes);
    drawing.input(
        random_tensor(dtype[random_shape(drawing.size(inputs), inputs)], wish.domain, inputs));
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

std::optional<RandomProgram> single_step(const Primitive& p, const TensorType& data,
                                         const Wish& wish, Choices& choices) {
  Drawing drawing(wish);
  const std::size_t x = drawing.input(random_tensor(data, wish.domain, choices));
  if (!drawing.step(p, x, choices)) return std::nullopt;
  const std::size_t results = drawing.program.lines.back().results;
  for (std::size_t i = drawing.count() - results; i < drawing.count(); ++i)
    drawing.program.outputs.push_back(i);
  return std::move(drawing.program);
}

}  // namespace hom::laws
