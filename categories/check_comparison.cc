// categories/check_comparison.cc -- the methods at one point, pair by pair, along random directions
// and for single elements
#include <hom/categories/check_comparison.h>

#include <algorithm>
#include <cmath>

#include <hom/categories/transpose.h>

namespace hom::checking {

Point::Point(const Program& program, std::vector<Tensor> inputs, const std::vector<bool>& active,
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

std::vector<Numbers> Point::moved(std::size_t v, const Numbers& direction, double h) const {
  std::vector<Tensor> inputs = inputs_;
  Numbers x = input(v);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] += h * direction[k];
  inputs[varying_[v]] = like_input(v, x);
  const std::vector<Tensor> all = run_(std::move(inputs), at_);
  std::vector<Numbers> values;
  for (std::size_t o : floats_) values.push_back(all[o].to_vector(at_));
  return values;
}

std::vector<Numbers> Point::forward(std::size_t v, const Numbers& direction) {
  if (!no_forward_.empty()) return {};
  std::vector<Tensor> inputs = residuals_;
  for (std::size_t u = 0; u < varying_.size(); ++u) {
    inputs.push_back(like_input(u, u == v ? direction : Numbers(input(u).size(), 0)));
  }
  return results_of(linear_.linear, inputs, no_forward_);
}

std::vector<Numbers> Point::reverse(std::size_t output, const Numbers& cotangent) {
  if (!no_reverse_.empty()) return {};
  std::vector<Tensor> inputs = residuals_;
  for (std::size_t o = 0; o < floats_.size(); ++o) {
    const Numbers w = o == output ? cotangent : Numbers(values_[o].size(), 0);
    const TensorType& type = program_.type(program_.outputs()[floats_[o]]);
    inputs.push_back(tensor(w, type.shape, at_).astype(type.dtype, at_));
  }
  return results_of(pullback_, inputs, no_reverse_);
}

Tensor Point::like_input(std::size_t v, const Numbers& elements) const {
  const TensorType type = inputs_[varying_[v]].type(at_);
  return tensor(elements, type.shape, at_).astype(type.dtype, at_);
}

std::vector<Numbers> Point::results_of(const Program& program, const std::vector<Tensor>& inputs,
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

namespace {

Shape index_of(std::size_t position, const Shape& shape) {
  Shape index(shape.size(), 0);
  auto rest = static_cast<std::int64_t>(position);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  return index;
}

/// Whether a is further from agreement than b.
bool is_worse(const DerivativeCheck& a, const DerivativeCheck& b) {
  if (b.allowed == 0 && b.agreement == Agreement::agrees) return true;
  if (a.agreement != b.agreement) return a.agreement > b.agreement;
  return !(a.deviation * b.allowed <= b.deviation * a.allowed);
}

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

}  // namespace

std::vector<DerivativeCheck> compare(Point& point, const CheckOptions& options, Precision precision,
                                     const std::vector<std::string>& outputs,
                                     const std::vector<std::string>& inputs, double magnitude) {
  return Comparison(point, options, precision, magnitude).checks(outputs, inputs);
}

}  // namespace hom::checking
