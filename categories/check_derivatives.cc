// categories/check_derivatives.cc -- the methods compared for a program and its gradients, the step
// that is to blame where they part, and the report in words
#include <hom/categories/check_derivatives.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include <hom/categories/check_comparison.h>
#include <hom/categories/linearize.h>
#include <hom/categories/transpose.h>

namespace hom {
namespace {

using namespace checking;

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
      checks = compare(point, options_, coarsest_precision(alone),
                       numbered("result", results.size()), numbered("operand", slots.size()));
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
        compare(point, options, precision, paths, f.input_names());
    if (any_parts(checks)) {
      Search search(options);
      const std::optional<WrongRule> found = search(f, x, varies);
      if (found) {
        if (!report.wrong_rule) report.wrong_rule = found;
      } else {
        // No step is to blame: perhaps large numbers cancel, which results do not show.
        checks = compare(point, options, precision, paths, f.input_names(), search.largest_value());
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
