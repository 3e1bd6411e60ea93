// tests/laws/drawing.h -- a random program in the making, each line run as it is drawn
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <hom/core/executor.h>
#include <hom/tests/laws/random_program.h>

namespace hom::laws {

/// How large values grow where they have to be differentiated.
inline constexpr double largest = 30;

inline const Primitive& primitive(std::string_view name) {
  return standard_primitives().find(name);
}

inline bool all(const Tensor& x, const std::function<bool(double)>& holds) {
  const std::vector<double> values = x.to_vector();
  return std::all_of(values.begin(), values.end(), holds);
}

inline bool is_moderate(const Tensor& x) {
  return !x.dtype().is_float() || all(x, [](double v) { return std::abs(v) < largest; });
}

inline bool has_nan(const Tensor& x) {
  return x.dtype().is_float() && !all(x, [](double v) { return !std::isnan(v); });
}

/// Whether a primitive takes matrices of floats, and whether it is smooth at these operands.
bool is_for_matrices(const std::string& name);
bool matrix_is_smooth_at(const std::string& name, const Attributes& attributes,
                         std::span<const Tensor> x);

class Drawing {
 public:
  explicit Drawing(Wish wish) : wish_(std::move(wish)) {
    for (const Primitive* p : standard_primitives().all()) {
      const bool wished = wish_.primitives.empty() ||
                          std::count(wish_.primitives.begin(), wish_.primitives.end(), p->name);
      if (wished && !only_raises(*p) &&
          !std::count(wish_.without.begin(), wish_.without.end(), p->name))
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
    if (p.run) return control(p, data, choices);
    data = within_domain(p, data, choices);
    if (p.name == "lu_solve") return draw_lu_solve(data, choices);
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
  std::size_t within_domain(const Primitive& p, std::size_t x, Choices& choices) {
    if (is_for_matrices(p.name)) return matrices(p, x, choices);
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

  // In random_matrices.cc:

  /// The value as matrices that `p` takes; in smooth programs, at which it is smooth.
  std::size_t matrices(const Primitive& p, std::size_t x, Choices& choices);
  bool draw_lu_solve(std::size_t a, Choices& choices);

  // In random_control.cc:

  /// A primitive with programs inside, on random bodies.
  bool control(const Primitive& p, std::size_t data, Choices& choices);
  std::vector<Tensor> values(const std::vector<std::size_t>& list) const;
  /// A body for inputs like these, whose results have these types; or one or two of any type.
  std::optional<RandomProgram> body(std::vector<Tensor> examples,
                                    const std::vector<TensorType>* results, Choices& choices) const;
  bool draw_cond(std::vector<std::size_t> operands, Choices& choices);
  bool draw_scan(std::vector<std::size_t> operands, Choices& choices);
  bool draw_while(std::vector<std::size_t> operands, Choices& choices);
  bool draw_custom(const Primitive& p, const std::vector<std::size_t>& operands, Choices& choices);
  std::size_t predicate(Choices& choices);

  Wish wish_;
  std::vector<const Primitive*> pool_;
  std::vector<Tensor> now_;
  std::vector<bool> is_input_;
};

}  // namespace hom::laws
