// categories/interval_elementwise.cc -- rules for functions of one element at a time, and
// three-valued predicates
#include <algorithm>
#include <cmath>
#include <limits>

#include <hom/categories/interval_rule.h>
#include <hom/core/operations/special.h>

namespace hom::categories {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr Interval no{0, 0, false};
constexpr Interval yes{1, 1, false};

/// Element i of each operand.
struct Row {
  const Operation& operation;
  std::span<const IntervalTensor> operands;
  std::size_t index;

  const Interval& operator[](std::size_t operand) const {
    return operands[operand].elements()[index];
  }
  /// Whether both operands are one, and not only equal.
  bool same() const { return operation.same_as[1] == 0; }
  Dtype dtype() const { return operands[0].type().dtype; }
  IntervalArithmetic arithmetic() const { return IntervalArithmetic(dtype()); }
};

using RowRule = Interval (*)(const Row& x);

IntervalRule elementwise(RowRule rule) {
  return [rule](const Operation& operation, std::span<const IntervalTensor> x) {
    const TensorType& type = operation.results[0];
    std::vector<Interval> elements;
    for (std::size_t i = 0; i < static_cast<std::size_t>(type.size()); ++i)
      elements.push_back(rule({operation, x, i}));
    return IntervalTensor(type, std::move(elements));
  };
}

/// A rule for floats by the arithmetic of the dtype; of integers in f64, where the result may wrap.
template <auto rule>
Interval arithmetic(const Row& x) {
  if (x.dtype().is_float()) return rule(x.arithmetic(), x);
  return wrapped(rule(IntervalArithmetic(f64), x), x.dtype());
}

double logistic(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

/// A function as the executor computes it.
template <Tensor (*function)(const Operand&)>
double computed(double x) {
  return function(Tensor(x)).item();
}

struct NamedFunction {
  const char* name;
  IntervalArithmetic::Monotone function;
};

/// Monotone functions: domain, and range.
const NamedFunction monotone_functions[] = {
    {"exp", {std::exp, -inf, inf, 0, inf}},
    {"expm1", {std::expm1, -inf, inf, -1, inf}},
    {"log", {std::log, 0, inf, -inf, inf}},
    {"log1p", {std::log1p, -1, inf, -inf, inf}},
    {"asin", {std::asin, -1, 1, -2, 2}},
    {"acos", {std::acos, -1, 1, 0, 4, false}},
    {"atan", {std::atan, -inf, inf, -2, 2}},
    {"sinh", {std::sinh, -inf, inf, -inf, inf}},
    {"tanh", {std::tanh, -inf, inf, -1, 1}},
    {"asinh", {std::asinh, -inf, inf, -inf, inf}},
    {"acosh", {std::acosh, 1, inf, 0, inf}},
    {"atanh", {std::atanh, -1, 1, -inf, inf}},
    {"logistic", {logistic, -inf, inf, 0, 1}},
    {"erf", {std::erf, -inf, inf, -1, 1}},
    {"erfc", {std::erfc, -inf, inf, 0, 2, false}},
    {"erfcx", {computed<erfcx>, -inf, inf, 0, inf, false}},
    {"erf_inv", {computed<erf_inv>, -1, 1, -inf, inf}},
    {"erfc_inv", {computed<erfc_inv>, 0, 2, -inf, inf, false}},
    {"round", {std::nearbyint, -inf, inf, -inf, inf, true, true}},
    {"floor", {std::floor, -inf, inf, -inf, inf, true, true}},
    {"ceil", {std::ceil, -inf, inf, -inf, inf, true, true}},
};

/// log Γ falls to its minimum on the positive axis and rises from there. Between poles it is
/// nearly as small, and at them infinite.
Interval log_gamma(const Row& x) {
  constexpr double place = 1.4616321449683623;
  constexpr double least = -0.12148629053584961;
  const Interval& v = x[0];
  if (v.is_empty()) return v;
  if (!(v.lo > 0)) return {-inf, inf, v.may_be_nan};
  const IntervalArithmetic arithmetic = x.arithmetic();
  const IntervalArithmetic::Monotone falls{computed<lgamma>, 0, place, least, inf, false};
  const IntervalArithmetic::Monotone rises{computed<lgamma>, place, inf, least, inf};
  const Interval left{v.lo, std::min(v.hi, place), v.may_be_nan};
  const Interval right{std::max(v.lo, place), v.hi, v.may_be_nan};
  if (v.hi <= place) return arithmetic.monotone(left, falls);
  if (v.lo >= place) return arithmetic.monotone(right, rises);
  return hull(arithmetic.monotone(left, falls), arithmetic.monotone(right, rises));
}

/// On the positive axis ψ rises, and its derivatives fall or rise by turns.
Interval polygamma_between(const Row& x) {
  const Interval& v = x[0];
  const std::int64_t n = x.operation.attributes.integer("n");
  if (v.is_empty()) return v;
  // Beyond, more than six units in the last place may be wrong.
  if (!(v.lo > 0) || n > 30) return {-inf, inf, true};
  const auto at = [&](double end) { return polygamma(n, Tensor(end)).item(); };
  double lo = at(v.lo);
  double hi = at(v.hi);
  if (lo > hi) std::swap(lo, hi);
  const IntervalArithmetic arithmetic = x.arithmetic();
  const auto error = [](double value) { return 6 * 0x1p-52 * std::abs(value); };
  return arithmetic.outward(std::isinf(lo) ? lo : lo - error(lo),
                            std::isinf(hi) ? hi : hi + error(hi), v.may_be_nan);
}

// Three-valued logic: an interval of 0 and 1.

Interval possibly(bool may_be_true, bool may_be_false) {
  return {may_be_false ? 0.0 : 1.0, may_be_true ? 1.0 : 0.0, false};
}
Interval negated(const Interval& x) { return {1 - x.hi, 1 - x.lo, false}; }

/// Of values that are not NaN; comparisons with NaN are false.
Interval less(const Row& x, bool or_equal) {
  const Interval& a = x[0];
  const Interval& b = x[1];
  const bool nan = a.may_be_nan || b.may_be_nan;
  if (a.is_empty() || b.is_empty()) return no;
  if (x.same()) return or_equal ? possibly(true, nan) : no;
  const bool may_be_true = or_equal ? a.lo <= b.hi : a.lo < b.hi;
  const bool may_be_false = or_equal ? a.hi > b.lo : a.hi >= b.lo;
  return possibly(may_be_true, may_be_false || nan);
}

Interval equal(const Row& x) {
  const Interval& a = x[0];
  const Interval& b = x[1];
  const bool nan = a.may_be_nan || b.may_be_nan;
  if (a.is_empty() || b.is_empty()) return no;
  if (x.same()) return possibly(true, nan);
  const bool overlap = a.lo <= b.hi && b.lo <= a.hi;
  return possibly(overlap, nan || !(a.lo == a.hi && b == a));
}

Interval greater(const Row& x, bool or_equal) {
  const Interval& a = x[0];
  const Interval& b = x[1];
  const bool nan = a.may_be_nan || b.may_be_nan;
  if (a.is_empty() || b.is_empty()) return no;
  if (x.same()) return or_equal ? possibly(true, nan) : no;
  const bool may_be_true = or_equal ? a.hi >= b.lo : a.hi > b.lo;
  const bool may_be_false = or_equal ? a.lo < b.hi : a.lo <= b.hi;
  return possibly(may_be_true, may_be_false || nan);
}

/// Bits of integers that are not known may be any.
template <auto rule>
Interval logical(const Row& x) {
  return x.dtype().is_bool() ? rule(x[0], x[1]) : anything(x.dtype());
}

Interval exclusive(const Interval& a, const Interval& b) {
  if (!a.is_point() || !b.is_point()) return {0, 1, false};
  return a == b ? no : yes;
}

Interval converted(const Row& x) {
  const Dtype to = x.operation.results[0].dtype;
  const Interval& v = x[0];
  if (to.is_bool()) {
    // NaN is not 0.
    const bool zero = v.contains(0);
    return possibly(v.may_be_nan || !(v.lo == 0 && v.hi == 0), zero);
  }
  if (to.is_float()) return IntervalArithmetic(to).outward(v.lo, v.hi, v.may_be_nan);
  if (!x.dtype().is_float()) return wrapped(v, to);
  // Truncated and saturated; NaN is 0.
  const Interval all = anything(to);
  Interval result{std::clamp(std::trunc(v.lo), all.lo, all.hi),
                  std::clamp(std::trunc(v.hi), all.lo, all.hi), false};
  if (v.is_empty()) return no;
  if (v.may_be_nan) result = hull(result, no);
  if (result.lo < -0x1p53 || result.hi > 0x1p53) return hull(result, {result.lo, result.hi, false});
  return result;
}

}  // namespace

void add_elementwise_intervals(IntervalRules& rules) {
  for (const NamedFunction& row : monotone_functions) {
    rules[row.name] = [f = row.function](const Operation& operation,
                                         std::span<const IntervalTensor> x) {
      const IntervalArithmetic arithmetic(operation.results[0].dtype);
      std::vector<Interval> elements;
      for (const Interval& element : x[0].elements())
        elements.push_back(arithmetic.monotone(element, f));
      return IntervalTensor(operation.results[0], std::move(elements));
    };
  }
  using A = IntervalArithmetic;
  rules["neg"] = elementwise(arithmetic<[](const A& a, const Row& x) { return a.neg(x[0]); }>);
  rules["abs"] = elementwise(arithmetic<[](const A& a, const Row& x) { return a.abs(x[0]); }>);
  rules["sign"] = elementwise(arithmetic<[](const A& a, const Row& x) { return a.sign(x[0]); }>);
  rules["sqrt"] = elementwise([](const Row& x) { return x.arithmetic().sqrt(x[0]); });
  rules["rsqrt"] = elementwise([](const Row& x) { return x.arithmetic().rsqrt(x[0]); });
  rules["sin"] = elementwise([](const Row& x) { return x.arithmetic().sin(x[0]); });
  rules["cos"] = elementwise([](const Row& x) { return x.arithmetic().cos(x[0]); });
  rules["tan"] = elementwise([](const Row& x) { return x.arithmetic().tan(x[0]); });
  rules["cosh"] = elementwise([](const Row& x) { return x.arithmetic().cosh(x[0]); });
  rules["lgamma"] = elementwise(log_gamma);
  // Rises or falls with α as t is far below or above: known to be a number only.
  rules["log_gamma_slope"] = elementwise([](const Row& x) { return anything(x.dtype()); });
  rules["polygamma"] = elementwise(polygamma_between);
  rules["add"] =
      elementwise(arithmetic<[](const A& a, const Row& x) { return a.add(x[0], x[1]); }>);
  rules["sub"] = elementwise(arithmetic<[](const A& a, const Row& x) {
    // x − x is 0, but NaN where x is infinite.
    if (!x.same() || x[0].is_empty()) return a.sub(x[0], x[1]);
    return Interval{0, 0, x[0].may_be_nan || x[0].lo == -inf || x[0].hi == inf};
  }>);
  rules["mul"] = elementwise(arithmetic<[](const A& a, const Row& x) {
    return x.same() ? a.square(x[0]) : a.mul(x[0], x[1]);
  }>);
  rules["scale"] = elementwise([](const Row& x) {
    return x.same() ? x.arithmetic().square(x[0]) : x.arithmetic().mul(x[0], x[1], true);
  });
  rules["div"] = elementwise([](const Row& x) {
    if (x.dtype().is_float()) return x.arithmetic().div(x[0], x[1]);
    if (x[1].contains(0)) return anything(x.dtype());
    const Interval q = A(f64).div(x[0], x[1]);
    return wrapped({std::floor(q.lo), std::floor(q.hi), false}, x.dtype());
  });
  rules["rem"] = elementwise([](const Row& x) {
    if (x.dtype().is_float()) return x.arithmetic().rem(x[0], x[1]);
    if (x[1].contains(0)) return anything(x.dtype());
    return wrapped(A(f64).rem(x[0], x[1]), x.dtype());
  });
  rules["pow"] = elementwise([](const Row& x) {
    return x.dtype().is_float() ? x.arithmetic().pow(x[0], x[1]) : anything(x.dtype());
  });
  rules["max"] =
      elementwise(arithmetic<[](const A& a, const Row& x) { return a.max(x[0], x[1]); }>);
  rules["min"] =
      elementwise(arithmetic<[](const A& a, const Row& x) { return a.min(x[0], x[1]); }>);
  rules["atan2"] = elementwise([](const Row& x) { return x.arithmetic().atan2(x[0], x[1]); });
  rules["stop_gradient"] = elementwise([](const Row& x) { return x[0]; });
  rules["convert"] = elementwise(converted);

  rules["eq"] = elementwise(equal);
  rules["ne"] = elementwise([](const Row& x) { return negated(equal(x)); });
  rules["lt"] = elementwise([](const Row& x) { return less(x, false); });
  rules["le"] = elementwise([](const Row& x) { return less(x, true); });
  rules["gt"] = elementwise([](const Row& x) { return greater(x, false); });
  rules["ge"] = elementwise([](const Row& x) { return greater(x, true); });
  rules["and"] = elementwise(logical<[](const Interval& a, const Interval& b) {
    return Interval{std::min(a.lo, b.lo), std::min(a.hi, b.hi), false};
  }>);
  rules["or"] = elementwise(logical<[](const Interval& a, const Interval& b) {
    return Interval{std::max(a.lo, b.lo), std::max(a.hi, b.hi), false};
  }>);
  rules["xor"] = elementwise(logical<exclusive>);
  rules["not"] = elementwise(
      [](const Row& x) { return x.dtype().is_bool() ? negated(x[0]) : anything(x.dtype()); });
  for (const char* name : {"shift_left", "shift_right"})
    rules[name] = elementwise([](const Row& x) { return anything(x.dtype()); });
  rules["is_finite"] = elementwise([](const Row& x) {
    const bool infinite = x[0].lo == -inf || x[0].hi == inf;
    const bool finite = !x[0].is_empty() && x[0].lo < inf && x[0].hi > -inf;
    return possibly(finite, x[0].may_be_nan || infinite);
  });
  rules["select"] = elementwise([](const Row& x) {
    if (!x[0].is_point()) return hull(x[1], x[2]);
    return x[0].lo != 0 ? x[1] : x[2];
  });
  // Any bits, where the key is not known.
  rules["random_bits"] = [](const Operation& operation, std::span<const IntervalTensor>) {
    return anything(operation.results[0]);
  };
}

}  // namespace hom::categories
