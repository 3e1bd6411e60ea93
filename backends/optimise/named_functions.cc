// backends/optimise/named_functions.cc -- chains of exp, log and sums that are functions with a
// name
//
// They are as exact as one function, and do not overflow on the way; so they round otherwise, and
// all of them need `reassociate`.
#include <hom/backends/optimise/axes_of_views.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>
#include <hom/core/axes.h>

namespace hom::optimiser {
namespace {

/// The other operand of a step that has this literal.
std::optional<Slot> beside(const Rewriting& at, const Definition& step, double literal) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (at.is_literal(step[i], literal)) return step[1 - i];
  }
  return std::nullopt;
}

/// x, where the slot is 1 + x and nothing else needs it.
std::optional<Slot> more_than_one(const Rewriting& at, Slot slot) {
  const auto sum = at.match(slot, words().add);
  return sum && at.is_used_once(slot) ? beside(at, *sum, 1) : std::nullopt;
}

std::optional<Slot> log_of_more_than_one(const Rewriting& at) {
  const auto x = more_than_one(at, at[0]);
  return x ? std::optional(at.append(words().log1p, {*x})) : std::nullopt;
}

std::optional<Slot> exp_less_one(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float()) return std::nullopt;
  const bool is_difference = &at.primitive == &w.sub;
  for (std::size_t i = 0; i < (is_difference ? 1 : 2); ++i) {
    const auto power = at.match(at[i], w.exp);
    if (power && at.is_used_once(at[i]) && at.is_literal(at[1 - i], is_difference ? 1 : -1))
      return at.append(w.expm1, {(*power)[0]});
  }
  return std::nullopt;
}

/// 1/(1 + e^−x) and e^x/(1 + e^x).
std::optional<Slot> logistic(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float()) return std::nullopt;
  const auto sum = at.match(at[1], w.add);
  const auto rest = sum ? beside(at, *sum, 1) : std::nullopt;
  const auto power = rest ? at.match(*rest, w.exp) : std::nullopt;
  if (!power) return std::nullopt;
  if (at[0] == *rest) return at.append(w.logistic, {(*power)[0]});
  if (!at.is_literal(at[0], 1)) return std::nullopt;
  const auto minus = at.match((*power)[0], w.neg);
  return at.append(w.logistic, {minus ? (*minus)[0] : at.append(w.neg, {(*power)[0]})});
}

std::optional<Slot> log_of_exp(const Rewriting& at) {
  const auto power = at.match(at[0], words().exp);
  return power ? std::optional((*power)[0]) : std::nullopt;
}

/// log(e^x/s), as of a softmax.
std::optional<Slot> log_of_quotient(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto quotient = at.match(at[0], w.div);
  const auto power = quotient ? at.match((*quotient)[0], w.exp) : std::nullopt;
  if (!power || !at.is_used_once(at[0])) return std::nullopt;
  return at.append(w.sub, {(*power)[0], at.append(w.log, {(*quotient)[1]})});
}

/// log Σ e^x without a shift: the shifted form that logsumexp has.
std::optional<Slot> log_of_sum_of_exp(const Rewriting& at) {
  const Vocabulary& w = words();
  Slot inner = at[0];
  // Axes of extent 1 may have been kept.
  if (const auto reshape = at.match(inner, w.reshape)) inner = (*reshape)[0];
  const auto total = at.match(inner, w.reduce_sum);
  const auto power = total ? at.match((*total)[0], w.exp) : std::nullopt;
  if (!power || !at.is_used_once(at[0]) || !at.is_used_once(inner)) return std::nullopt;
  const Slot x = (*power)[0];
  // Shifted already.
  if (at.is(x, w.sub)) return std::nullopt;
  const Shape shape = at.type(x).shape;
  const Shape axes = total->attributes.shape("axes");
  if (contains(shape, 0) || axes.empty()) return std::nullopt;
  const Slot largest = at.append(w.reduce_max, {x}, {{"axes", {axes}}});
  const TensorType type = at.type(largest);
  const Slot shift =
      at.append(w.select, {at.append(w.is_finite, {largest}), largest, at.literal({0.0}, type)});
  const Slot repeated = at.append(
      w.broadcast, {shift}, {{"shape", {shape}}, {"axes", {axes_without(shape.size(), axes)}}});
  const Slot weights = at.append(w.exp, {at.append(w.sub, {x, repeated})});
  const Slot sum = at.append(w.reduce_sum, {weights}, {{"axes", {axes}}});
  const Slot log = at.append(w.add, {at.append(w.log, {sum}), shift});
  return at.append(w.reshape, {log}, {{"shape", {at.result.shape}}});
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.log}, {"log e^x = x", "exact where e^x is", true}, log_of_exp);
  add_rule(rules, {&w.log}, {"log(1 + x) = log1p x", "the sum is not rounded", true},
           log_of_more_than_one);
  add_rule(
      rules, {&w.log},
      {"log(e^x/s) = x − log s", "the logarithm of a softmax; the quotient is not rounded", true},
      log_of_quotient);
  add_rule(rules, {&w.log},
           {"log Σ e^x = log Σ e^(x − m) + m, m = max x",
            "what logsumexp computes: it does not overflow. Seven steps for three, the one kernel "
            "that a softmax is",
            true},
           log_of_sum_of_exp);
  add_rule(rules, {&w.sub, &w.add}, {"e^x − 1 = expm1 x", "the difference does not cancel", true},
           exp_less_one);
  add_rule(rules, {&w.div},
           {"1/(1 + e^−x) = logistic x, e^x/(1 + e^x) = logistic x", "it does not overflow", true},
           logistic);
  return rules;
}

}  // namespace

Pass named_functions() {
  static const Rules rules = make_rules();
  return pass_of_rules("named_functions",
                       "chains of exp, log and sums that are functions with a name", rules);
}

}  // namespace hom::optimiser
