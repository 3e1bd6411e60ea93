// tests/laws/smoothness.cc -- where primitives are smooth: at a distance from kinks, poles and
// jumps
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include <hom/core/windows.h>
#include <hom/tests/laws/drawing.h>
#include <hom/tests/laws/random_program.h>

namespace hom::laws {
namespace {

/// How far values keep from where a derivative jumps.
constexpr double margin = 0.01;

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

/// Whether no two elements of a group are near each other; groups are the elements alike in all
/// axes but `axes`.
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
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) == axes.end())
        group = group * 101 + index;
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
  return std::adjacent_find(values.begin(), values.end(),
                            [](double a, double b) { return !apart(a, b); }) == values.end();
}

/// Whether no two elements of a window are near each other.
bool apart_in_windows(const Tensor& x, const Attributes& attributes) {
  const std::vector<double> values = x.to_vector();
  for (const auto& elements : window_elements(window_axes(attributes, x.shape()))) {
    std::vector<double> window;
    for (std::size_t i : elements) window.push_back(values[i]);
    if (!all_apart(window, {})) return false;
  }
  return true;
}

/// Whether no element of a window is near to what it is compared with.
bool apart_from_windows(const Tensor& x, const Tensor& y, const Attributes& attributes) {
  const std::vector<double> values = x.to_vector();
  const std::vector<double> keys = y.to_vector();
  const auto windows = window_elements(window_axes(attributes, x.shape()));
  for (std::size_t o = 0; o < windows.size(); ++o) {
    for (std::size_t i : windows[o]) {
      if (!apart(values[i], keys[o])) return false;
    }
  }
  return true;
}

/// The results, unless a step is not smooth at the values that it has in the run.
std::optional<std::vector<Tensor>> smooth_run(const Program& program, std::vector<Tensor> inputs) {
  std::vector<Tensor> values(program.slot_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) values[program.inputs()[i]] = inputs[i];
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    std::vector<Tensor> x;
    for (Slot slot : step.operands) x.push_back(values[slot]);
    TensorList results;
    if (step.primitive.name == "captured") {
      results.push_back(
          program.captured()[static_cast<std::size_t>(step.attributes.integer("index"))]);
    } else {
      if (!is_smooth_at(step.primitive, step.attributes, x)) return std::nullopt;
      results = apply(step.primitive, step.attributes, x, step.at);
    }
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      values[step.first_result + r] = results[r];
  }
  std::vector<Tensor> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(values[slot]);
  return outputs;
}

bool scan_is_smooth(const Attributes& attributes, std::span<const Tensor> x) {
  const std::int64_t length = attributes.integer("length");
  const std::int64_t carries = attributes.integer("carries");
  const std::int64_t scanned = attributes.integer("scanned");
  std::vector<Tensor> now(x.begin(), x.end());
  for (std::int64_t n = 0; n < length; ++n) {
    for (std::int64_t k = carries; k < carries + scanned; ++k) {
      now[static_cast<std::size_t>(k)] =
          x[static_cast<std::size_t>(k)](attributes.boolean("reverse") ? length - 1 - n : n);
    }
    const auto next = smooth_run(*attributes.program("body"), now);
    if (!next) return false;
    std::copy_n(next->begin(), carries, now.begin());
  }
  return true;
}

bool while_is_smooth(const Attributes& attributes, std::span<const Tensor> x) {
  std::vector<Tensor> now(x.begin(), x.end());
  for (std::int64_t n = 0; n != attributes.integer("bound"); ++n) {
    const auto more = smooth_run(*attributes.program("condition"), now);
    if (!more) return false;
    if (!more->front().item<bool>()) break;
    const auto next = smooth_run(*attributes.program("body"), now);
    if (!next) return false;
    std::copy(next->begin(), next->end(), now.begin());
  }
  return true;
}

}  // namespace

bool is_smooth_at(const Primitive& p, const Attributes& attributes, std::span<const Tensor> x) {
  const std::string& name = p.name;
  if (x.empty() ||
      std::none_of(x.begin(), x.end(), [](const Tensor& t) { return t.dtype().is_float(); }))
    return true;
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
  };
  if (is_for_matrices(name)) return matrix_is_smooth_at(name, attributes, x);
  const auto shaped = [&](const char* attribute) { return attributes.shape(attribute); };
  if (attributes.has("program"))
    return smooth_run(*attributes.program("program"), {x.begin(), x.end()}).has_value();
  if (name == "cond") {
    const char* branch = x[0].item<bool>() ? "then" : "otherwise";
    return smooth_run(*attributes.program(branch), {x.begin() + 1, x.end()}).has_value();
  }
  if (name == "scan") return scan_is_smooth(attributes, x);
  if (name == "while") return while_is_smooth(attributes, x);
  if (is({"abs", "sign"})) return all(x[0], [](double v) { return std::abs(v) > margin; });
  if (is({"floor", "ceil"})) return all(x[0], far_from_integer);
  if (name == "round") return all(x[0], [](double v) { return far_from_integer(v + 0.5); });
  if (name == "convert") {
    const Dtype to = attributes.dtype("dtype");
    if (to.is_float()) return true;
    return to.is_bool() ? all(x[0], [](double v) { return std::abs(v) > margin; })
                        : all(x[0], far_from_integer);
  }
  if (is({"sqrt", "rsqrt", "log"})) return all(x[0], [](double v) { return v > 0.1; });
  if (name == "log1p") return all(x[0], [](double v) { return v > -0.9; });
  if (is({"asin", "acos", "atanh"})) return all(x[0], [](double v) { return std::abs(v) < 0.9; });
  if (name == "erf_inv") return all(x[0], [](double v) { return std::abs(v) < 0.9; });
  if (name == "erfc_inv") return all(x[0], [](double v) { return 0.1 < v && v < 1.9; });
  if (is({"lgamma", "polygamma"}))
    return all(x[0], [](double v) { return v > 0.3 || std::abs(v - std::round(v)) > 0.3; });
  if (name == "log_gamma_slope") return all(x[0], [](double v) { return v > 0.3; });
  if (name == "acosh") return all(x[0], [](double v) { return v > 1.1; });
  if (name == "tan") return all(x[0], [](double v) { return std::abs(std::cos(v)) > 0.3; });
  if (name == "div") return all(x[1], [](double v) { return std::abs(v) > 0.2; });
  if (name == "rem")
    return both(x[0], x[1],
                [](double a, double b) { return std::abs(b) > 0.2 && far_from_integer(a / b); });
  if (name == "pow") return all(x[0], [](double v) { return v > 0.1; });
  if (name == "atan2")
    return both(x[0], x[1], [](double a, double b) { return a * a + b * b > 0.05; });
  if (is({"max", "min", "eq", "ne", "lt", "le", "gt", "ge"})) return both(x[0], x[1], apart);
  if (is({"reduce_max", "reduce_min"})) return apart_in_groups(x[0], shaped("axes"));
  if (is({"argmax", "argmin", "cummax", "cummin"}))
    return apart_in_groups(x[0], {attributes.integer("axis")});
  if (is({"window_max", "window_min"})) return apart_in_windows(x[0], attributes);
  if (is({"window_select_sum", "window_select_spread"}))
    return apart_from_windows(x[0], x[1], attributes);
  if (name == "sort" && x[0].dtype().is_float())
    return apart_in_groups(x[0], {attributes.integer("axis")});
  if (name == "scatter" && attributes.string("combine").starts_with("m") &&
      attributes.string("combine") != "mul") {
    return all_apart(x[0].to_vector(), x[2].to_vector());
  }
  return true;
}

}  // namespace hom::laws
