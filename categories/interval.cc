// categories/interval.cc -- boxes, the table of rules, and exact integers
#include <hom/categories/interval.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>

#include <hom/categories/interval_rule.h>
#include <hom/core/capture.h>

namespace hom {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
/// Integers of this size and more are not all numbers of f64.
constexpr double exact_integers = 0x1p53;

Interval point(double value) {
  if (value != value) return {inf, -inf, true};
  return {value, value, false};
}

std::vector<Interval> points(const Tensor& x) {
  std::vector<Interval> list;
  const bool is_integer = x.dtype().is_integer();
  for (double value : x.to_vector()) {
    list.push_back(point(value));
    if (is_integer && std::abs(value) >= exact_integers)
      list.back() = {std::nextafter(value, -inf), std::nextafter(value, inf), false};
  }
  return list;
}

}  // namespace

IntervalTensor::IntervalTensor(const Interval& interval) : type_(f64[{}]), elements_{interval} {}

IntervalTensor::IntervalTensor(const Tensor& exact)
    : type_(exact.type()), elements_(points(exact)) {
  if (!type_.dtype.is_float()) exact_ = exact;
}

IntervalTensor::IntervalTensor(const Tensor& lower, const Tensor& upper, const Location& at)
    : IntervalTensor(lower.type(at), [&] {
        require(lower.type(at) == upper.type(at), at, [&] {
          return Complaint{"interval: the ends differ in type: " + to_string(lower.type(at)) +
                           " and " + to_string(upper.type(at))};
        });
        std::vector<Interval> elements = points(lower);
        const std::vector<Interval> ends = points(upper);
        for (std::size_t i = 0; i < elements.size(); ++i) {
          require(!(elements[i].lo > ends[i].hi), at, [&] {
            return Complaint{"interval: element " + std::to_string(i) + " has its lower end " +
                                 to_string(elements[i].lo) + " above its upper end " +
                                 to_string(ends[i].hi),
                             "Interval{lower, upper}"};
          });
          elements[i] = hull(elements[i], ends[i]);
        }
        return elements;
      }()) {}

IntervalTensor::IntervalTensor(TensorType type, std::vector<Interval> elements)
    : type_(std::move(type)), elements_(std::move(elements)) {
  ensure(static_cast<std::int64_t>(elements_.size()) == type_.size(),
         "a box has one interval for each element");
  if (type_.dtype.is_float()) return;
  const bool known = std::all_of(elements_.begin(), elements_.end(), [](const Interval& x) {
    return x.is_point() && std::abs(x.lo) < exact_integers;
  });
  if (!known) return;
  std::vector<double> values;
  for (const Interval& x : elements_) values.push_back(x.lo);
  exact_ = tensor(values, type_.shape).astype(type_.dtype);
}

Tensor IntervalTensor::lower() const {
  std::vector<double> ends;
  for (const Interval& x : elements_) ends.push_back(x.lo);
  return tensor(ends, type_.shape);
}

Tensor IntervalTensor::upper() const {
  std::vector<double> ends;
  for (const Interval& x : elements_) ends.push_back(x.hi);
  return tensor(ends, type_.shape);
}

Tensor IntervalTensor::may_be_nan() const {
  std::vector<double> marks;
  for (const Interval& x : elements_) marks.push_back(x.may_be_nan);
  return tensor(marks, type_.shape).astype(bool_);
}

bool IntervalTensor::contains(const Tensor& x) const {
  if (x.type() != type_) return false;
  const std::vector<double> values = x.to_vector();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!elements_[i].contains(values[i])) return false;
  }
  return true;
}

IntervalTensor::operator Interval() const {
  require(elements_.size() == 1, Location::current(), [&] {
    return Complaint{"interval: " + to_string(type_) + " is not one interval but " +
                         std::to_string(elements_.size()),
                     "elements(), lower() and upper() give all of them"};
  });
  return elements_[0];
}

std::string to_string(const IntervalTensor& x) {
  std::string text;
  for (const Interval& element : x.elements())
    text += (text.empty() ? "" : ", ") + to_string(element);
  return to_string(x.type()) + " " + (x.type().rank() == 0 ? text : "{" + text + "}");
}

std::ostream& operator<<(std::ostream& out, const Interval& x) { return out << to_string(x); }
std::ostream& operator<<(std::ostream& out, const IntervalTensor& x) { return out << to_string(x); }

namespace categories {
namespace {

/// Results of an operation on operands that are all known integers and bools, or on none.
std::optional<std::vector<IntervalTensor>> exactly(const Operation& operation,
                                                   std::span<const IntervalTensor> x) {
  Tensors operands;
  for (const IntervalTensor& operand : x) {
    if (operand.exact().is_empty()) return std::nullopt;
    operands.push_back(operand.exact());
  }
  std::vector<IntervalTensor> results;
  for (const Tensor& y : operation(operands)) results.emplace_back(y);
  return results;
}

}  // namespace

IntervalRules& interval_rules() {
  static IntervalRules table = [] {
    IntervalRules made;
    add_elementwise_intervals(made);
    add_movement_intervals(made);
    add_reduction_intervals(made);
    return made;
  }();
  return table;
}

std::string Intervals::lacks(const Primitive& primitive) const {
  if (primitive.name == "bitcast") return "the bits of two ends do not bound those between";
  static const std::set<std::string, std::less<>> of_matrices{
      "cholesky", "triangular_solve", "lu",      "lu_solve", "qr", "eigh", "svd",
      "pinv",     "determinant",      "cofactor"};
  if (of_matrices.contains(primitive.name) && !interval_rules().contains(primitive.name))
    return "elimination and rotations of bounds give bounds too wide to be of use";
  const bool computed = primitive.max_operands == 0;
  const bool is_control =
      is_decomposed(primitive) || primitive.name == "cond" || primitive.name == "barrier";
  if (computed || is_control || interval_rules().contains(primitive.name)) return "";
  return "it has no rule for intervals";
}

std::vector<IntervalTensor> Intervals::primitive(const Operation& operation,
                                                 std::span<const IntervalTensor> x) const {
  if (auto exact = exactly(operation, x)) return *std::move(exact);
  return interval_rules().find(operation.primitive->name)->second(operation, x);
}

std::optional<bool> Intervals::decide(const IntervalTensor& predicate) const {
  if (predicate.exact().is_empty()) return std::nullopt;
  return predicate.exact().item<bool>();
}

IntervalTensor Intervals::merge(const IntervalTensor& a, const IntervalTensor& b) const {
  std::vector<Interval> hulls;
  for (std::size_t i = 0; i < a.elements().size(); ++i)
    hulls.push_back(hull(a.elements()[i], b.elements()[i]));
  return {a.type(), std::move(hulls)};
}

Interval anything(Dtype dtype) {
  if (dtype.is_bool()) return {0, 1, false};
  if (dtype.is_float()) return {-inf, inf, true};
  return visit(dtype, []<class T>() -> Interval {
    if constexpr (std::integral<T>) {
      return {static_cast<double>(std::numeric_limits<T>::min()),
              static_cast<double>(std::numeric_limits<T>::max()), false};
    } else {
      return {};
    }
  });
}

IntervalTensor anything(const TensorType& type) {
  return {type, std::vector<Interval>(static_cast<std::size_t>(type.size()), anything(type.dtype))};
}

Interval wrapped(const Interval& x, Dtype dtype) {
  const Interval all = anything(dtype);
  const bool inside =
      all.lo <= x.lo && x.hi <= all.hi && std::max(std::abs(x.lo), std::abs(x.hi)) < exact_integers;
  return inside ? Interval{x.lo, x.hi, false} : all;
}

Interval hull_of(const IntervalTensor& x) {
  Interval all{inf, -inf, false};
  for (const Interval& element : x.elements()) all = hull(all, element);
  return all;
}

}  // namespace categories

namespace detail {

std::vector<IntervalTensor> interval_of(const Program& program, std::size_t captured_operands,
                                        std::vector<IntervalTensor> inputs, const Location& at) {
  require(captured_operands == 0, at, [] {
    return Complaint{"interval: the function uses a tensor of a program that is being captured",
                     "bounds are computed at once; call interval(f) outside other transformations"};
  });
  return categories::interpret(categories::Intervals{}, program, std::move(inputs));
}

}  // namespace detail
}  // namespace hom
