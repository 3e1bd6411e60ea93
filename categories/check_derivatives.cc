// categories/check_derivatives.cc -- forward mode, reverse mode and differences of one program at
// one point, and the step that is to blame where they part
#include <hom/categories/check_derivatives.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include <hom/categories/linearize.h>
#include <hom/categories/transpose.h>

namespace hom {
namespace {

using Numbers = std::vector<double>;

/// What differences and modes are good for in a dtype.
struct Precision {
  /// The distance from 1 to the next number.
  double epsilon;
  /// The distance from 0 to the next number.
  double least;
  /// Relative, of differences and of the adjoint identity.
  double tolerance;
  double adjoint_tolerance;
};

Precision precision_of(Dtype dtype) {
  if (dtype == f16) return {0x1p-10, 0x1p-24, 0.05, 0.05};
  if (dtype == bf16) return {0x1p-7, 0x1p-133, 0.2, 0.2};
  if (dtype == f32) return {0x1p-23, 0x1p-149, 2e-3, 1e-3};
  return {0x1p-52, 0x1p-1074, 1e-6, 1e-9};
}

Precision coarsest_precision(const Program& program) {
  Precision coarsest = precision_of(f64);
  for (Slot slot = 0; slot < program.slot_count(); ++slot) {
    const Dtype dtype = program.type(slot).dtype;
    if (dtype.is_float() && precision_of(dtype).epsilon > coarsest.epsilon)
      coarsest = precision_of(dtype);
  }
  for (std::size_t s = 0; s < program.step_count(); ++s) {
    for (const auto& [name, attribute] : program.step(s).attributes) {
      const auto* inner = std::get_if<ProgramPtr>(&attribute.value);
      if (inner == nullptr) continue;
      const Precision precision = coarsest_precision(**inner);
      if (precision.epsilon > coarsest.epsilon) coarsest = precision;
    }
  }
  return coarsest;
}

/// Numbers between 1/2 and 1 with random signs: SplitMix64 (G. Steele et al., "Fast splittable
/// pseudorandom number generators", 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double signed_half_to_one() {
    const std::uint64_t random = bits();
    const double size = 0.5 + 0.5 * static_cast<double>(random >> 11) * 0x1p-53;
    return (random & 1) != 0 ? size : -size;
  }
  Numbers numbers(std::size_t count) {
    Numbers all(count);
    for (double& each : all) each = signed_half_to_one();
    return all;
  }

 private:
  std::uint64_t state_;
};

double dot(const Numbers& a, const Numbers& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}
double dot_of_sizes(const Numbers& a, const Numbers& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += std::abs(a[i] * b[i]);
  return total;
}
double largest(const Numbers& a) {
  double most = 0;
  for (double each : a) most = std::max(most, std::abs(each));
  return most;
}

Shape index_of(std::size_t position, const Shape& shape) {
  Shape index(shape.size(), 0);
  auto rest = static_cast<std::int64_t>(position);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  return index;
}

/// One number of f at x, and at x ± h v for two steps h, of which the second is a quarter.
struct Samples {
  double middle;
  double plus;
  double minus;
  double plus_near;
  double minus_near;
};

struct Slopes {
  double differences;
  double left;
  double right;
  /// What the differences may be off by.
  double uncertainty;
  /// Slopes from both sides that stay apart, by as much or (at a jump, or by noise) by more.
  bool has_kink;
  bool by_as_much;
};

Slopes slopes_of(const Samples& at, double step, double magnitude, const Precision& precision) {
  const double near_step = step / 4;
  const double far = (at.plus - at.minus) / (2 * step);
  const double near = (at.plus_near - at.minus_near) / (2 * near_step);
  const double noise = 4 * (precision.epsilon * magnitude + precision.least) / near_step;
  // Richardson's extrapolation removes the error of order h².
  const double differences = (16 * near - far) / 15;
  const double left = (at.middle - at.minus_near) / near_step;
  const double right = (at.plus_near - at.middle) / near_step;
  // Of a smooth function the gap falls to a quarter, with the step; at a kink it stays.
  const double gap = std::abs((at.plus - at.middle) / step - (at.middle - at.minus) / step);
  const double near_gap = std::abs(right - left);
  const bool has_kink =
      near_gap > 0.6 * gap &&
      near_gap > 4 * noise + precision.tolerance * std::max(std::abs(left), std::abs(right));
  // Rounding inside the function shows in the difference of both, which is not much smaller.
  const double uncertainty = noise + 3 * std::abs(near - far);
  return {differences, left, right, uncertainty, has_kink, near_gap < 1.7 * gap};
}

/// How well a slope by a rule fits to differences; `typical` is the size that slopes have.
Agreement judge(double rule, const Slopes& slopes, double typical, double tolerance,
                DerivativeCheck& check) {
  check.differences = slopes.differences;
  check.left = slopes.left;
  check.right = slopes.right;
  check.deviation = std::abs(rule - slopes.differences);
  const double size = std::max(std::abs(rule), std::abs(slopes.differences));
  const double tight = tolerance * std::max(size, 1e-3 * typical);
  check.allowed = tight + slopes.uncertainty;
  if (!std::isfinite(slopes.differences)) return Agreement::unclear;
  if (check.deviation <= tight) {
    // Where a rule gives the middle of both slopes, a kink is told by its size alone.
    const double gap = std::abs(slopes.right - slopes.left);
    const bool clear = gap > 0.05 * std::max(std::abs(slopes.left), std::abs(slopes.right));
    return slopes.has_kink && slopes.by_as_much && clear ? Agreement::kink : Agreement::agrees;
  }
  if (slopes.has_kink) return Agreement::kink;
  if (!(check.deviation <= check.allowed)) return Agreement::parts;
  return check.allowed > 0.5 * size && size > 1e-3 * typical ? Agreement::unclear
                                                             : Agreement::agrees;
}

/// Whether a is further from agreement than b.
bool is_worse(const DerivativeCheck& a, const DerivativeCheck& b) {
  if (b.allowed == 0 && b.agreement == Agreement::agrees) return true;
  if (a.agreement != b.agreement) return a.agreement > b.agreement;
  return !(a.deviation * b.allowed <= b.deviation * a.allowed);
}

/// A program at a point: its values nearby, and its derivative by both modes.
class Point {
 public:
  Point(const Program& program, std::vector<Tensor> inputs, std::vector<bool> active,
        const Location& at)
      : program_(program), run_(program), inputs_(std::move(inputs)), at_(at) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (active[i] && inputs_[i].dtype(at).is_float()) varying_.push_back(i);
    }
    std::vector<bool> marked(inputs_.size(), false);
    for (std::size_t i : varying_) marked[i] = true;
    std::vector<bool> wanted;
    for (const TensorType& type : program.output_types()) {
      wanted.push_back(type.dtype.is_float());
      if (wanted.back()) floats_.push_back(wanted.size() - 1);
    }
    linear_ = linearize(program, marked, &wanted);
    const std::vector<Tensor> all = evaluate(linear_.primal, inputs_, at);
    residuals_.assign(all.begin() + static_cast<std::ptrdiff_t>(wanted.size()), all.end());
    for (std::size_t o : floats_) values_.push_back(all[o].to_vector(at));
    std::vector<bool> transposed(residuals_.size(), false);
    transposed.resize(linear_.linear.inputs().size(), true);
    try {
      pullback_ = transpose(linear_.linear, transposed);
    } catch (const Error& error) {
      no_reverse_ = error.what();
    }
  }

  /// Positions of the inputs that vary, and of the outputs that are floats.
  const std::vector<std::size_t>& varying() const { return varying_; }
  const std::vector<std::size_t>& floats() const { return floats_; }
  /// Elements of each float output.
  const std::vector<Numbers>& values() const { return values_; }
  Numbers input(std::size_t v) const { return inputs_[varying_[v]].to_vector(at_); }
  Shape input_shape(std::size_t v) const { return inputs_[varying_[v]].shape(at_); }
  Shape output_shape(std::size_t o) const {
    return program_.type(program_.outputs()[floats_[o]]).shape;
  }
  const std::string& no_forward() const { return no_forward_; }
  const std::string& no_reverse() const { return no_reverse_; }

  /// The float outputs with input v moved by h·direction.
  std::vector<Numbers> moved(std::size_t v, const Numbers& direction, double h) const {
    std::vector<Tensor> inputs = inputs_;
    Numbers x = input(v);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += h * direction[k];
    inputs[varying_[v]] = like_input(v, x);
    const std::vector<Tensor> all = run_(std::move(inputs), at_);
    std::vector<Numbers> values;
    for (std::size_t o : floats_) values.push_back(all[o].to_vector(at_));
    return values;
  }

  /// J v for each float output; nothing where there is no forward mode.
  std::vector<Numbers> forward(std::size_t v, const Numbers& direction) {
    if (!no_forward_.empty()) return {};
    std::vector<Tensor> inputs = residuals_;
    for (std::size_t u = 0; u < varying_.size(); ++u) {
      inputs.push_back(like_input(u, u == v ? direction : Numbers(input(u).size(), 0)));
    }
    return results_of(linear_.linear, inputs, no_forward_);
  }

  /// Jᵀ w for each input that varies; nothing where there is no reverse mode.
  std::vector<Numbers> reverse(std::size_t output, const Numbers& cotangent) {
    if (!no_reverse_.empty()) return {};
    std::vector<Tensor> inputs = residuals_;
    for (std::size_t o = 0; o < floats_.size(); ++o) {
      const Numbers w = o == output ? cotangent : Numbers(values_[o].size(), 0);
      const TensorType& type = program_.type(program_.outputs()[floats_[o]]);
      inputs.push_back(tensor(w, type.shape, at_).astype(type.dtype, at_));
    }
    return results_of(pullback_, inputs, no_reverse_);
  }

 private:
  Tensor like_input(std::size_t v, const Numbers& elements) const {
    const TensorType type = inputs_[varying_[v]].type(at_);
    return tensor(elements, type.shape, at_).astype(type.dtype, at_);
  }

  std::vector<Numbers> results_of(const Program& program, const std::vector<Tensor>& inputs,
                                  std::string& missing) const {
    std::vector<Numbers> results;
    try {
      for (const Tensor& y : evaluate(program, inputs, at_)) results.push_back(y.to_vector(at_));
    } catch (const Error& error) {
      missing = error.what();
      results.clear();
    }
    return results;
  }

  const Program& program_;
  Evaluation run_;
  std::vector<Tensor> inputs_;
  Location at_;
  std::vector<std::size_t> varying_;
  std::vector<std::size_t> floats_;
  Linearization linear_;
  Program pullback_;
  std::vector<Tensor> residuals_;
  std::vector<Numbers> values_;
  std::string no_forward_;
  std::string no_reverse_;
};

/// Compares the methods at a point, pair by pair.
class Comparison {
 public:
  /// `magnitude`: how large the numbers are that are rounded, where larger than the results.
  Comparison(Point& point, const CheckOptions& options, Precision precision, double magnitude = 0)
      : point_(point),
        options_(options),
        precision_(precision),
        magnitude_(magnitude),
        random_(options.seed) {
    if (options.tolerance > 0) precision_.tolerance = options.tolerance;
    step_ = std::pow(precision_.epsilon, 0.25);
  }

  std::vector<DerivativeCheck> checks(const std::vector<std::string>& outputs,
                                      const std::vector<std::string>& inputs) {
    const std::size_t results = point_.floats().size();
    const std::size_t arguments = point_.varying().size();
    worst_.assign(results * arguments, {});
    for (std::size_t o = 0; o < results; ++o) {
      const std::size_t size = point_.values()[o].size();
      cotangents_.push_back(size == 1 ? Numbers{1} : random_.numbers(size));
      pulled_.push_back(point_.reverse(o, cotangents_.back()));
    }
    for (std::size_t v = 0; v < arguments; ++v) {
      if (point_.input(v).empty()) continue;
      for (int d = 0; d < options_.directions; ++d) along_direction(v);
      for (std::size_t element : elements_to_move(v)) of_element(v, element);
    }
    for (std::size_t o = 0; o < results; ++o) {
      for (std::size_t v = 0; v < arguments; ++v) {
        DerivativeCheck& check = worst_[o * arguments + v];
        check.result = outputs[point_.floats()[o]];
        check.argument = inputs[point_.varying()[v]];
      }
    }
    return worst_;
  }

 private:
  /// By how much an element is moved: by a part of its size.
  Numbers sizes(std::size_t v) const {
    Numbers x = point_.input(v);
    const double most = largest(x);
    for (double& each : x) each = each != 0 ? std::abs(each) : most > 0 ? most : 1;
    return x;
  }

  std::vector<std::size_t> elements_to_move(std::size_t v) {
    const std::size_t count = point_.input(v).size();
    const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(options_.elements, 0));
    std::vector<std::size_t> elements;
    for (std::size_t i = 0; i < std::min(count, limit); ++i)
      elements.push_back(count <= limit ? i : random_.bits() % count);
    return elements;
  }

  /// All outputs at the point and beside it.
  struct Around {
    std::vector<Numbers> plus, minus, plus_near, minus_near;
  };
  Around around(std::size_t v, const Numbers& direction) const {
    return {point_.moved(v, direction, step_), point_.moved(v, direction, -step_),
            point_.moved(v, direction, step_ / 4), point_.moved(v, direction, -step_ / 4)};
  }

  void keep(std::size_t o, std::size_t v, const DerivativeCheck& check) {
    DerivativeCheck& worst = worst_[o * point_.varying().size() + v];
    if (is_worse(check, worst)) worst = check;
  }

  void along_direction(std::size_t v) {
    Numbers direction = sizes(v);
    for (double& each : direction) each *= random_.signed_half_to_one();
    const std::vector<Numbers> tangents = point_.forward(v, direction);
    if (tangents.empty()) return;
    const Around around = this->around(v, direction);
    for (std::size_t o = 0; o < tangents.size(); ++o) {
      const Numbers& y = point_.values()[o];
      const double typical = largest(tangents[o]);
      for (std::size_t k = 0; k < y.size(); ++k) {
        const Samples samples{y[k], around.plus[o][k], around.minus[o][k], around.plus_near[o][k],
                              around.minus_near[o][k]};
        const Slopes slopes =
            slopes_of(samples, step_, std::max(largest(y), magnitude_), precision_);
        DerivativeCheck check;
        check.agreement = judge(tangents[o][k], slopes, typical, precision_.tolerance, check);
        check.forward = tangents[o][k];
        check.index = index_of(k, point_.output_shape(o));
        if (check.agreement == Agreement::parts) {
          Numbers unit(y.size(), 0);
          unit[k] = 1;
          const std::vector<Numbers> pulled = point_.reverse(o, unit);
          if (!pulled.empty()) check.reverse = dot(pulled[v], direction);
        }
        keep(o, v, check);
      }
      adjoint(o, v, direction, tangents[o], around);
    }
  }

  /// ⟨w, f⟩ for the cotangent w of output o.
  Samples weighted(std::size_t o, const Around& around) const {
    const Numbers& w = cotangents_[o];
    return {dot(w, point_.values()[o]), dot(w, around.plus[o]), dot(w, around.minus[o]),
            dot(w, around.plus_near[o]), dot(w, around.minus_near[o])};
  }
  Slopes weighted_slopes(std::size_t o, const Around& around) const {
    const double magnitude = std::max(dot_of_sizes(cotangents_[o], point_.values()[o]), magnitude_);
    return slopes_of(weighted(o, around), step_, magnitude, precision_);
  }

  /// ⟨w, J v⟩ = ⟨Jᵀw, v⟩
  void adjoint(std::size_t o, std::size_t v, const Numbers& direction, const Numbers& tangent,
               const Around& around) {
    if (pulled_[o].empty()) return;
    const Numbers& w = cotangents_[o];
    DerivativeCheck check;
    check.of_adjoint = true;
    check.forward = dot(w, tangent);
    check.reverse = dot(pulled_[o][v], direction);
    check.differences = weighted_slopes(o, around).differences;
    check.deviation = std::abs(check.forward - check.reverse);
    // Where terms cancel that neither side shows, as large as results or larger ones inside.
    const double rounding =
        64 * precision_.epsilon * std::max(dot_of_sizes(w, point_.values()[o]), magnitude_);
    check.allowed =
        rounding + precision_.adjoint_tolerance *
                       (dot_of_sizes(w, tangent) + dot_of_sizes(pulled_[o][v], direction));
    const bool finite = std::isfinite(check.forward) && std::isfinite(check.reverse);
    if (!finite && !std::isfinite(check.differences)) {
      check.agreement = Agreement::unclear;
    } else {
      check.agreement = check.deviation <= check.allowed ? Agreement::agrees : Agreement::parts;
    }
    keep(o, v, check);
  }

  void of_element(std::size_t v, std::size_t element) {
    const double size = sizes(v)[element];
    Numbers direction(point_.input(v).size(), 0);
    direction[element] = size;
    const Around around = this->around(v, direction);
    std::vector<Numbers> tangents;
    for (std::size_t o = 0; o < pulled_.size(); ++o) {
      if (pulled_[o].empty()) continue;
      const Slopes scaled = weighted_slopes(o, around);
      const Slopes slopes{scaled.differences / size, scaled.left / size, scaled.right / size,
                          scaled.uncertainty / size, scaled.has_kink,    scaled.by_as_much};
      DerivativeCheck check;
      check.of_result = false;
      check.reverse = pulled_[o][v][element];
      check.agreement =
          judge(check.reverse, slopes, largest(pulled_[o][v]), precision_.tolerance, check);
      check.index = index_of(element, point_.input_shape(v));
      if (check.agreement == Agreement::parts) {
        if (tangents.empty()) tangents = point_.forward(v, direction);
        if (!tangents.empty()) check.forward = dot(cotangents_[o], tangents[o]) / size;
      }
      keep(o, v, check);
    }
  }

  Point& point_;
  const CheckOptions& options_;
  Precision precision_;
  double magnitude_;
  Random random_;
  double step_;
  std::vector<DerivativeCheck> worst_;
  /// A random cotangent of each output, and its cotangents of the inputs.
  std::vector<Numbers> cotangents_;
  std::vector<std::vector<Numbers>> pulled_;
};

bool any_parts(const std::vector<DerivativeCheck>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const DerivativeCheck& check) {
    return check.agreement == Agreement::parts;
  });
}

std::vector<std::string> numbered(const char* name, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(count == 1 ? name : std::string(name) + " " + std::to_string(i));
  return names;
}

// ---- the step to blame ----

class Search {
 public:
  explicit Search(const CheckOptions& options) : options_(options) {}

  /// The first step of the program whose rule disagrees with differences; `varies` marks inputs.
  std::optional<WrongRule> operator()(const Program& program, const std::vector<Tensor>& inputs,
                                      const std::vector<bool>& input_varies) {
    std::vector<Tensor> values(program.slot_count());
    std::vector<bool> varies(program.slot_count(), false);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      values[program.inputs()[i]] = inputs[i];
      varies[program.inputs()[i]] = input_varies[i] && inputs[i].dtype().is_float();
    }
    for (std::size_t s = 0; s < program.step_count(); ++s) {
      const Step step = program.step(s);
      std::vector<Tensor> operands;
      std::vector<bool> active;
      for (Slot slot : step.operands) {
        operands.push_back(values[slot]);
        active.push_back(varies[slot]);
      }
      const bool any = std::find(active.begin(), active.end(), true) != active.end();
      if (any) {
        if (auto found = in_step(step, operands, active)) return found;
      }
      const std::vector<Tensor> results = results_of(program, step, operands);
      for (std::uint32_t r = 0; r < step.result_count; ++r) {
        values[step.first_result + r] = results[r];
        varies[step.first_result + r] = any && results[r].dtype().is_float();
        if (varies[step.first_result + r])
          largest_ = std::max(largest_, largest(results[r].to_vector()));
      }
    }
    return std::nullopt;
  }

  /// The largest number among what varied in the steps that were searched.
  double largest_value() const { return largest_; }

 private:
  /// Iterations of a loop that are looked into.
  static constexpr std::int64_t most_iterations = 32;

  static std::vector<Tensor> results_of(const Program& program, const Step& step,
                                        const std::vector<Tensor>& operands) {
    if (step.primitive.name == "captured")
      return {program.captured()[static_cast<std::size_t>(step.attributes.integer("index"))]};
    std::vector<TensorType> types;
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      types.push_back(program.type(step.first_result + r));
    const TensorList results = execute(Invocation{step.primitive, step.attributes, types, step.at},
                                       TensorList(operands.begin(), operands.end()));
    return {results.begin(), results.end()};
  }

  std::optional<WrongRule> in_step(const Step& step, const std::vector<Tensor>& operands,
                                   const std::vector<bool>& active) {
    Builder builder;
    std::vector<Slot> slots;
    for (const Tensor& x : operands) slots.push_back(builder.add_input(x.type(), "operand"));
    const Slot first =
        builder.append_exactly(step.primitive, step.attributes, slots, step.at, step.scope);
    std::vector<Slot> results;
    for (std::uint32_t r = 0; r < step.result_count; ++r) results.push_back(first + r);
    const Program alone = std::move(builder).finish(results, {});
    std::vector<DerivativeCheck> checks;
    try {
      Point point(alone, operands, active, step.at);
      checks = Comparison(point, options_, coarsest_precision(alone))
                   .checks(numbered("result", results.size()), numbered("operand", slots.size()));
    } catch (const Error&) {
      return std::nullopt;  // it has no derivative, so no wrong one
    }
    if (!any_parts(checks)) return std::nullopt;
    if (auto inner = in_programs(step, operands, active)) return inner;
    return WrongRule{step.primitive.name, step.at, step.scope, std::move(checks)};
  }

  /// Steps with programs inside answer for these; the rules of custom functions are their own.
  std::optional<WrongRule> in_programs(const Step& step, const std::vector<Tensor>& operands,
                                       const std::vector<bool>& active) {
    const std::string& name = step.primitive.name;
    if (name == "call" || name == "composite" || name == "checkpoint")
      return (*this)(*step.attributes.program("program"), operands, active);
    if (name == "cond") {
      const char* taken = operands[0].item<bool>() ? "then" : "otherwise";
      return (*this)(*step.attributes.program(taken), {operands.begin() + 1, operands.end()},
                     {active.begin() + 1, active.end()});
    }
    if (name == "scan") return in_scan(step.attributes, operands);
    if (name == "while") return in_while(step.attributes, operands);
    return std::nullopt;
  }

  std::optional<WrongRule> in_scan(const Attributes& a, const std::vector<Tensor>& operands) {
    const Program& body = *a.program("body");
    const auto carries = static_cast<std::size_t>(a.integer("carries"));
    const auto scanned = static_cast<std::size_t>(a.integer("scanned"));
    const std::int64_t length = a.integer("length");
    std::vector<Tensor> inputs = operands;
    for (std::int64_t n = 0; n < std::min(length, most_iterations); ++n) {
      const std::int64_t i = a.boolean("reverse") ? length - 1 - n : n;
      for (std::size_t k = carries; k < carries + scanned; ++k) inputs[k] = operands[k](i);
      if (auto found = (*this)(body, inputs, std::vector<bool>(inputs.size(), true))) return found;
      const std::vector<Tensor> outputs = evaluate(body, inputs);
      std::copy_n(outputs.begin(), carries, inputs.begin());
    }
    return std::nullopt;
  }

  std::optional<WrongRule> in_while(const Attributes& a, const std::vector<Tensor>& operands) {
    const Program& body = *a.program("body");
    const std::int64_t bound = a.integer("bound") < 0 ? most_iterations : a.integer("bound");
    std::vector<Tensor> inputs = operands;
    for (std::int64_t n = 0; n < std::min(bound, most_iterations); ++n) {
      if (!evaluate(*a.program("condition"), inputs)[0].item<bool>()) break;
      if (auto found = (*this)(body, inputs, std::vector<bool>(inputs.size(), true))) return found;
      const std::vector<Tensor> outputs = evaluate(body, inputs);
      std::copy(outputs.begin(), outputs.end(), inputs.begin());
    }
    return std::nullopt;
  }

  const CheckOptions& options_;
  double largest_ = 0;
};

/// x…, ȳ… ↦ x̄… of the float inputs, with the residuals computed.
Program gradients(const Program& program, const std::vector<bool>& active, const Location& at) {
  Capture capture(at);
  std::vector<Tensor> x;
  for (std::size_t i = 0; i < program.inputs().size(); ++i)
    x.push_back(capture.input(program.type(program.inputs()[i]), program.input_names()[i]));
  std::vector<bool> wanted;
  std::vector<Tensor> cotangents;
  for (const TensorType& type : program.output_types()) {
    wanted.push_back(type.dtype.is_float());
    if (wanted.back()) cotangents.push_back(capture.input(type, "cotangent"));
  }
  const Linearization linear = linearize(program, active, &wanted);
  const std::vector<Tensor> all = apply(linear.primal, x, at);
  std::vector<Tensor> inputs(all.begin() + static_cast<std::ptrdiff_t>(wanted.size()), all.end());
  std::vector<bool> transposed(inputs.size(), false);
  transposed.resize(linear.linear.inputs().size(), true);
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  const std::vector<Tensor> outputs = apply(transpose(linear.linear, transposed), inputs, at);
  return capture.finish(outputs, {}, at).program;
}

}  // namespace

DerivativeReport check_derivatives(const Program& program, const std::vector<Tensor>& inputs,
                                   const std::vector<std::string>& output_paths,
                                   const CheckOptions& options, const Location& at) {
  const std::vector<TensorType> outputs = program.output_types();
  ensure(inputs.size() == program.inputs().size() && output_paths.size() == outputs.size(),
         "check_derivatives: a tensor for each input and a path for each output");
  std::vector<bool> active;
  for (const Tensor& x : inputs) {
    static_cast<void>(x.array(at));
    active.push_back(x.dtype(at).is_float());
  }
  const bool any_input = std::find(active.begin(), active.end(), true) != active.end();
  const bool any_output = std::any_of(outputs.begin(), outputs.end(),
                                      [](const TensorType& type) { return type.dtype.is_float(); });
  require(any_input && any_output, at, [&] {
    return Complaint{
        std::string("check_derivatives: no ") + (any_input ? "result" : "argument") + " is a float",
        "convert with astype(f32) or astype(f64)"};
  });

  DerivativeReport report;
  const auto check = [&](const Program& f, const std::vector<Tensor>& x,
                         const std::vector<bool>& varies, const std::vector<std::string>& paths) {
    Point point(f, x, varies, at);
    const Precision precision = coarsest_precision(f);
    std::vector<DerivativeCheck> checks =
        Comparison(point, options, precision).checks(paths, f.input_names());
    if (any_parts(checks)) {
      Search search(options);
      const std::optional<WrongRule> found = search(f, x, varies);
      if (found) {
        if (!report.wrong_rule) report.wrong_rule = found;
      } else {
        // No step is to blame: perhaps large numbers cancel, which results do not show.
        checks = Comparison(point, options, precision, search.largest_value())
                     .checks(paths, f.input_names());
      }
    }
    report.checks.insert(report.checks.end(), checks.begin(), checks.end());
    if (!point.no_forward().empty())
      report.notes.push_back("no forward mode: " + point.no_forward());
    if (!point.no_reverse().empty())
      report.notes.push_back("no reverse mode: " + point.no_reverse());
    return point.no_reverse().empty();
  };
  const bool has_reverse = check(program, inputs, active, output_paths);
  if (options.second_order && has_reverse) {
    const Program f = gradients(program, active, at);
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (active[i]) paths.push_back("gradient in " + program.input_names()[i]);
    }
    std::vector<Tensor> x = inputs;
    std::vector<bool> varies = active;
    Random random(options.seed + 1);
    for (const TensorType& type : outputs) {
      if (!type.dtype.is_float()) continue;
      const Numbers w = random.numbers(static_cast<std::size_t>(type.size()));
      x.push_back(tensor(w, type.shape, at).astype(type.dtype, at));
      varies.push_back(false);
    }
    check(f, x, varies, paths);
  }
  return report;
}

bool DerivativeReport::has(Agreement agreement) const {
  return std::any_of(checks.begin(), checks.end(),
                     [&](const DerivativeCheck& check) { return check.agreement == agreement; });
}
bool DerivativeReport::ok() const { return !has(Agreement::parts); }

namespace {

std::string text_of(double number) {
  if (std::isnan(number)) return "none";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

/// Which method stands alone, in words.
std::string who_parts(const DerivativeCheck& check) {
  const double small = std::max(check.allowed, 0.1 * check.deviation);
  const auto close = [&](double a, double b) { return std::abs(a - b) <= small; };
  if (std::isnan(check.differences)) return "forward and reverse mode part";
  if (std::isnan(check.reverse)) return "forward mode parts from differences";
  if (std::isnan(check.forward)) return "reverse mode parts from differences";
  if (close(check.forward, check.reverse)) return "both modes part from differences";
  if (close(check.forward, check.differences)) return "reverse mode parts from the others";
  if (close(check.reverse, check.differences)) return "forward mode parts from the others";
  return "all methods part";
}

std::string place_of(const DerivativeCheck& check) {
  if (check.of_adjoint) return "⟨w, J v⟩ and ⟨Jᵀw, v⟩ of random w and v";
  const std::string index = check.index.empty() ? std::string() : to_string(check.index);
  return check.of_result ? check.result + index + " along a random v"
                         : "of ⟨w, " + check.result + "⟩ in " + check.argument + index;
}

std::string text_of(const DerivativeCheck& check, const std::string& margin) {
  std::string text = margin + check.result + " by " + check.argument + ": ";
  switch (check.agreement) {
    case Agreement::agrees:
      return text + "agrees\n";
    case Agreement::unclear:
      return text + "unclear, differences are too coarse: " + place_of(check) + "\n";
    case Agreement::kink:
      return text + "a kink, with slopes " + text_of(check.left) + " and " + text_of(check.right) +
             ": " + place_of(check) + "\n";
    case Agreement::parts:
      break;
  }
  return text + who_parts(check) + "\n" + margin + "  " + place_of(check) + ": forward " +
         text_of(check.forward) + ", reverse " + text_of(check.reverse) + ", differences " +
         text_of(check.differences) + "\n";
}

}  // namespace

std::string to_string(const DerivativeReport& report) {
  std::string text = report.ok() ? "derivatives agree\n" : "derivatives part\n";
  for (const DerivativeCheck& check : report.checks) text += text_of(check, "  ");
  for (const std::string& note : report.notes) text += "  " + note + "\n";
  if (report.wrong_rule) {
    const WrongRule& rule = *report.wrong_rule;
    text += "the first rule that disagrees with differences of its own step: " + rule.primitive +
            "\n  at " + to_string(rule.line) +
            (rule.scope.empty() ? "" : ", in `" + rule.scope + "`") + "\n";
    for (const DerivativeCheck& check : rule.checks) text += text_of(check, "  ");
  } else if (!report.ok()) {
    text += "each step alone agrees\n";
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const DerivativeReport& report) {
  return out << to_string(report);
}

}  // namespace hom
