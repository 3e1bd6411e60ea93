// categories/interval.h -- the category of intervals: an arrow is a bound on what a program gives
//
//     auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
//     Interval range = interval(f)(Interval{0.0, 1.0}, Interval{-1.0, 2.0});
//
// An object is a box, one interval for each element of each tensor; an arrow takes boxes to boxes,
// so that f x ∈ F X for every x ∈ X: the value in real arithmetic and the value that the executor
// computes, in any order of its sums. Composition is that of functions; bounds only widen, since
// each step forgets how its operands depend on each other: x·(1 − x) on [0, 1] is bounded by [0, 1]
// and not by [0, ¼]. What a step says of one operand twice is kept: x·x is not negative.
//
// Predicates are three-valued, and where they are not decided `where` and `cond` give the hull of
// both. Integers and bools that are known are computed exactly; integers that are not, and may
// wrap, are the whole range of their dtype. Elements that may be NaN are marked. What is read at
// unknown places is the hull of everything that is there.
//
// The first category from outside differentiation. IEEE 1788-2015; C. Elliott, "Compiling to
// Categories" (2017), section 7 (interval analysis).
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <hom/categories/interpret.h>
#include <hom/categories/interval_arithmetic.h>
#include <hom/core/function.h>

namespace hom {

/// A tensor of intervals: one for each element, in row-major order.
class IntervalTensor {
 public:
  IntervalTensor() = default;
  /// A box of rank 0, f64[].
  IntervalTensor(const Interval& interval);  // NOLINT(google-explicit-constructor)
  /// A concrete tensor as a box of single points.
  IntervalTensor(const Tensor& exact);  // NOLINT(google-explicit-constructor)
  /// The box between two concrete tensors of one type, both included. Throws where the types
  /// differ, or where lower > upper.
  IntervalTensor(const Tensor& lower, const Tensor& upper,
                 const Location& at = Location::current());
  IntervalTensor(TensorType type, std::vector<Interval> elements);

  const TensorType& type() const { return type_; }
  const std::vector<Interval>& elements() const { return elements_; }
  /// The integer or bool tensor that it is known to be, or an empty one.
  const Tensor& exact() const { return exact_; }
  /// Ends as f64 tensors, and bool where an element may be NaN.
  Tensor lower() const;
  Tensor upper() const;
  Tensor may_be_nan() const;
  /// Whether each element of `x` lies in its interval.
  bool contains(const Tensor& x) const;

  /// The only interval; throws where there are more elements than one.
  operator Interval() const;  // NOLINT(google-explicit-constructor)

 private:
  TensorType type_ = {};
  std::vector<Interval> elements_;
  Tensor exact_;
};

/// `f64[] [0.0, 1.0]`, `f64[2] {[0.0, 1.0], [-1.0, 0.0]}`
std::string to_string(const IntervalTensor& x);
std::ostream& operator<<(std::ostream& out, const Interval& x);
std::ostream& operator<<(std::ostream& out, const IntervalTensor& x);

namespace categories {

/// The algebra of intervals, for `interpret`; `Functions<Intervals>` is the category.
struct Intervals {
  using Value = IntervalTensor;

  std::string name() const { return "intervals"; }
  std::string lacks(const Primitive& primitive) const;
  std::vector<IntervalTensor> primitive(const Operation& operation,
                                        std::span<const IntervalTensor> x) const;
  std::optional<bool> decide(const IntervalTensor& predicate) const;
  IntervalTensor merge(const IntervalTensor& a, const IntervalTensor& b) const;
};

/// The results of a primitive from boxes of all its operands: a function that returns a box, or a
/// vector of boxes where there are more results than one.
class IntervalRule {
 public:
  using Function =
      std::function<std::vector<IntervalTensor>(const Operation&, std::span<const IntervalTensor>)>;

  IntervalRule() = default;
  template <std::invocable<const Operation&, std::span<const IntervalTensor>> F>
  IntervalRule(F f) {  // NOLINT(google-explicit-constructor)
    using Result = std::invoke_result_t<F, const Operation&, std::span<const IntervalTensor>>;
    if constexpr (std::convertible_to<Result, std::vector<IntervalTensor>>) {
      function_ = std::move(f);
    } else {
      function_ = [f = std::move(f)](const Operation& operation,
                                     std::span<const IntervalTensor> x) {
        return std::vector<IntervalTensor>{f(operation, x)};
      };
    }
  }

  std::vector<IntervalTensor> operator()(const Operation& operation,
                                         std::span<const IntervalTensor> x) const {
    return function_(operation, x);
  }

 private:
  Function function_;
};
using IntervalRules = std::map<std::string, IntervalRule, std::less<>>;

/// The rules in force, by the name of the primitive: Hom's own on first use. A user adds one for a
/// primitive of his own, and assigns a former copy to take it out.
IntervalRules& interval_rules();

/// What is known of any tensor of this type: nothing.
IntervalTensor anything(const TensorType& type);

}  // namespace categories

namespace detail {

// Products of intervals: tuple, pair, array and vector of Interval, IntervalTensor, tensors and
// numbers.

template <class T>
inline constexpr bool is_box = std::same_as<T, Interval> || std::same_as<T, IntervalTensor>;

/// The same product with types for leaves, and its leaves as boxes, in order.
template <class T>
auto box_types(const T& value, std::vector<IntervalTensor>& boxes) {
  if constexpr (is_box<T>) {
    boxes.push_back(value);
    return boxes.back().type();
  } else if constexpr (is_leaf<T>) {
    boxes.push_back(IntervalTensor(Tensor(value)));
    return boxes.back().type();
  } else if constexpr (is_instance<T, std::tuple>) {
    return std::apply(
        [&](const auto&... entries) { return std::tuple{box_types(entries, boxes)...}; }, value);
  } else if constexpr (is_instance<T, std::pair>) {
    auto first = box_types(value.first, boxes);
    return std::pair{std::move(first), box_types(value.second, boxes)};
  } else if constexpr (is_array<T>) {
    std::array<decltype(box_types(value[0], boxes)), std::tuple_size_v<T>> types{};
    for (std::size_t i = 0; i < value.size(); ++i) types[i] = box_types(value[i], boxes);
    return types;
  } else if constexpr (is_instance<T, std::vector>) {
    std::vector<decltype(box_types(value[0], boxes))> types;
    for (const auto& entry : value) types.push_back(box_types(entry, boxes));
    return types;
  } else {
    static_assert(
        is_leaf<T>,
        "hom: interval(f) takes Interval, IntervalTensor, tensors and numbers, and tuple, "
        "pair, array or vector of such.");
  }
}

/// A result with boxes for leaves: Tensor becomes IntervalTensor.
template <class T>
auto boxes_like(const T& skeleton, const std::vector<IntervalTensor>& boxes, std::size_t& next) {
  if constexpr (std::same_as<T, Tensor>) {
    return boxes[next++];
  } else if constexpr (is_instance<T, std::tuple>) {
    return std::apply(
        [&](const auto&... entries) { return std::tuple{boxes_like(entries, boxes, next)...}; },
        skeleton);
  } else if constexpr (is_instance<T, std::pair>) {
    auto first = boxes_like(skeleton.first, boxes, next);
    return std::pair{std::move(first), boxes_like(skeleton.second, boxes, next)};
  } else {
    static_assert(is_array<T> || is_instance<T, std::vector>,
                  "hom: interval(f) returns tensors, or tuple, pair, array or vector of them.");
    std::vector<decltype(boxes_like(skeleton[0], boxes, next))> list;
    for (const auto& entry : skeleton) list.push_back(boxes_like(entry, boxes, next));
    return list;
  }
}

std::vector<IntervalTensor> interval_of(const Program& program, std::size_t captured_operands,
                                        std::vector<IntervalTensor> inputs, const Location& at);

}  // namespace detail

/// The bounds of f as a function of boxes; see above. Arguments are `Interval` (f64[]),
/// `IntervalTensor`, and tensors or numbers for points, or products of these. The result has
/// `IntervalTensor` for `Tensor`, which converts to `Interval` where it is of rank 0. Throws
/// `Error` where f uses a primitive that has no bounds.
template <class F>
auto interval(F f, const Location& at = Location::current()) {
  return [f = std::move(f), at](const auto&... arguments) {
    std::vector<IntervalTensor> inputs;
    // Braces keep the order: boxes are numbered left to right.
    const std::tuple types{detail::box_types(arguments, inputs)...};
    const auto captured = std::apply(
        [&](const auto&... each) { return detail::capture_function(f, "", at, each...); }, types);
    const std::vector<IntervalTensor> results = detail::interval_of(
        captured.program, captured.captured_operands.size(), std::move(inputs), at);
    std::size_t next = 0;
    return detail::boxes_like(captured.skeleton, results, next);
  };
}

}  // namespace hom
