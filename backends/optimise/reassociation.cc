// backends/optimise/reassociation.cc -- rules of real numbers that floats round otherwise
#include <cmath>
#include <limits>

#include <hom/backends/optimise/axes_of_views.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>
#include <hom/core/axes.h>

namespace hom::optimiser {
namespace {

/// Whether the dtype holds the number as a normal one, or 0.
bool is_normal(double value, Dtype dtype) {
  const double magnitude = std::fabs(value);
  const double largest = dtype == f64   ? std::numeric_limits<double>::max()
                         : dtype == f16 ? 65504
                                        : 3e38;
  const double smallest = dtype == f64   ? std::numeric_limits<double>::min()
                          : dtype == f16 ? 0x1p-14
                                         : 0x1p-126;
  return value == 0 || (magnitude >= smallest && magnitude <= largest);
}

std::optional<Slot> quotient_by_literal(const Rewriting& at) {
  const auto c = at.number_of(at[1]);
  if (!at.is_float() || !c || *c == 0 || !is_normal(*c, at.result.dtype) ||
      !is_normal(1 / *c, at.result.dtype))
    return std::nullopt;
  return at.append(words().mul, {at[0], at.literal(1 / *c)});
}

/// x / broadcast y: one division for each element of y.
std::optional<Slot> quotient_by_copies(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto spread = at.is_float() ? at.match(at[1], w.broadcast) : std::nullopt;
  if (!spread || at.number_of(at[0])) return std::nullopt;
  const TensorType small = at.type((*spread)[0]);
  if (2 * small.size() > at.result.size()) return std::nullopt;
  const Slot inverse = at.append(w.div, {at.literal({1.0}, small), (*spread)[0]});
  return at.append(w.mul, {at[0], at.append(w.broadcast, {inverse}, spread->attributes)});
}

std::optional<Slot> product_with_reciprocal(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float()) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto inverse = at.match(at[i], w.div);
    if (inverse && at.is_literal((*inverse)[0], 1) && at.is_used_once(at[i]))
      return at.append(w.div, {at[1 - i], (*inverse)[1]});
  }
  return std::nullopt;
}

std::optional<Slot> quotient_of_quotient(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float()) return std::nullopt;
  const auto inner = at.match(at[0], w.div);
  if (!inner || !at.is_used_once(at[0])) return std::nullopt;
  return at.append(w.div, {(*inner)[0], at.append(w.mul, {(*inner)[1], at[1]})});
}

std::optional<Slot> quotient_by_root(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float()) return std::nullopt;
  const auto root = at.match(at[1], w.sqrt);
  if (!root || !at.is_used_once(at[1])) return std::nullopt;
  return at.append(w.mul, {at[0], at.append(w.rsqrt, {(*root)[0]})});
}

/// (x·a)·b and (x + a) + b with literals.
std::optional<Slot> joined_literals(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float()) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto b = at.number_of(at[i]);
    const auto inner = b ? at.match(at[1 - i], at.primitive) : std::nullopt;
    for (std::size_t j = 0; inner && j < 2; ++j) {
      const auto a = at.number_of((*inner)[j]);
      if (!a) continue;
      const double both = &at.primitive == &w.mul ? *a * *b : *a + *b;
      const bool fits = is_normal(both, at.result.dtype) && (both != 0 || &at.primitive == &w.add);
      if (fits) return at.append(at.primitive, {(*inner)[1 - j], at.literal(both)});
    }
  }
  return std::nullopt;
}

/// a·b + a·c = a·(b + c), and −.
std::optional<Slot> common_factor(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float() || !at.is_used_once(at[0]) || !at.is_used_once(at[1]) || at[0] == at[1])
    return std::nullopt;
  const auto left = at.match(at[0], w.mul);
  const auto right = at.match(at[1], w.mul);
  if (!left || !right) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      if ((*left)[i] != (*right)[j]) continue;
      return at.append(w.mul,
                       {(*left)[i], at.append(at.primitive, {(*left)[1 - i], (*right)[1 - j]})});
    }
  }
  return std::nullopt;
}

/// Σ c·x = c·Σ x, where c is the same for all terms.
std::optional<Slot> sum_of_multiples(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float() || !at.is_used_once(at[0])) return std::nullopt;
  const Shape axes = at.attributes.shape("axes");
  const auto sum = [&](Slot x) { return at.append(w.reduce_sum, {x}, {{"axes", {axes}}}); };
  if (const auto minus = at.match(at[0], w.neg)) return at.append(w.neg, {sum((*minus)[0])});
  const auto product = at.match(at[0], w.mul);
  if (!product || axes.empty() || at.type(at[0]).size() == 0) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const Slot x = (*product)[1 - i];
    if (const auto c = at.number_of((*product)[i]))
      return at.append(w.mul, {sum(x), at.literal(*c)});
    const auto spread = at.match((*product)[i], w.broadcast);
    if (!spread) continue;
    const Shape kept = axes_without(at.type(at[0]).shape.size(), axes);
    Shape moved;
    for (std::int64_t axis : spread->attributes.shape("axes")) {
      if (contains(axes, axis)) break;
      moved.push_back(std::find(kept.begin(), kept.end(), axis) - kept.begin());
    }
    if (moved.size() != spread->attributes.shape("axes").size()) continue;
    const Slot factor =
        at.append(w.broadcast, {(*spread)[0]}, {{"shape", {at.result.shape}}, {"axes", {moved}}});
    return at.append(w.mul, {sum(x), factor});
  }
  return std::nullopt;
}

std::optional<Slot> negative_of_difference(const Rewriting& at) {
  const auto inner = at.is_float() ? at.match(at[0], words().sub) : std::nullopt;
  if (!inner || !at.is_used_once(at[0])) return std::nullopt;
  return at.append(words().sub, {(*inner)[1], (*inner)[0]});
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.div}, {"x/c = x·(1/c)", "one rounding more, of 1/c", true},
           quotient_by_literal);
  add_rule(rules, {&w.div}, {"x/√y = x·rsqrt y", "the root is not rounded", true},
           quotient_by_root);
  add_rule(rules, {&w.div}, {"(x/y)/z = x/(y·z)", "y·z may overflow", true}, quotient_of_quotient);
  add_rule(rules, {&w.div},
           {"x/broadcast y = x·broadcast(1/y)", "one rounding more; fewer divisions", true},
           quotient_by_copies);
  add_rule(rules, {&w.mul}, {"x·(1/y) = x/y", "one rounding less", true}, product_with_reciprocal);
  add_rule(rules, {&w.mul, &w.add},
           {"(x·a)·b = x·(a·b), (x + a) + b = x + (a + b)", "literals; one rounding less", true},
           joined_literals);
  add_rule(
      rules, {&w.add, &w.sub},
      {"a·b + a·c = a·(b + c)",
       "where neither product has another use; large where b + c cancels, as the sum was", true},
      common_factor);
  add_rule(rules, {&w.reduce_sum}, {"Σ c·x = c·Σ x, Σ −x = −Σ x", "terms are not rounded", true},
           sum_of_multiples);
  add_rule(rules, {&w.neg}, {"−(x − y) = y − x", "the sign of zero", true}, negative_of_difference);
  return rules;
}

}  // namespace

Pass reassociation() {
  static const Rules rules = make_rules();
  return pass_of_rules("reassociation", "rules of real numbers that floats round otherwise", rules);
}

}  // namespace hom::optimiser
