// backends/optimise/logic.cc -- rules of comparisons and of `select`
#include <cmath>

#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>

namespace hom::optimiser {
namespace {

std::optional<Slot> under_not(const Rewriting& at, Slot slot) {
  const auto inner = at.match(slot, words().not_);
  return inner ? std::optional((*inner)[0]) : std::nullopt;
}

/// ¬(x = y), and where there is no NaN ¬(x < y).
std::optional<Slot> opposite_comparison(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.result.dtype.is_bool()) return std::nullopt;
  const std::pair<const Primitive*, const Primitive*> always[] = {{&w.eq, &w.ne}, {&w.ne, &w.eq}};
  const std::pair<const Primitive*, const Primitive*> ordered[] = {
      {&w.lt, &w.ge}, {&w.ge, &w.lt}, {&w.le, &w.gt}, {&w.gt, &w.le}};
  if (!at.is_used_once(at[0])) return std::nullopt;
  for (const auto& [from, to] : always) {
    if (const auto test = at.match(at[0], *from)) return at.append(*to, {(*test)[0], (*test)[1]});
  }
  for (const auto& [from, to] : ordered) {
    const auto test = at.match(at[0], *from);
    if (test && !at.facts((*test)[0]).nan && !at.facts((*test)[1]).nan)
      return at.append(*to, {(*test)[0], (*test)[1]});
  }
  return std::nullopt;
}

/// A comparison of a slot with itself.
std::optional<Slot> compared_with_itself(const Rewriting& at) {
  const Vocabulary& w = words();
  if (at[0] != at[1]) return std::nullopt;
  const Primitive* p = &at.primitive;
  if (p == &w.lt || p == &w.gt) return at.literal({false}, at.result);
  if (at.facts(at[0]).nan) return std::nullopt;
  return at.literal({p != &w.ne}, at.result);
}

std::optional<Slot> smaller_first(const Rewriting& at) {
  const Vocabulary& w = words();
  return at.append(&at.primitive == &w.gt ? w.lt : w.le, {at[1], at[0]});
}

/// A truth value, or one converted to a number, compared with a literal 0 or 1.
std::optional<Slot> truth_compared(const Rewriting& at) {
  const Vocabulary& w = words();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto c = at.number_of(at[i]);
    if (!c || (*c != 0 && *c != 1)) continue;
    Slot truth = at[1 - i];
    if (const auto from = at.match(truth, w.convert)) truth = (*from)[0];
    if (!at.type(truth).dtype.is_bool()) continue;
    const bool is_itself = (&at.primitive == &w.eq) == (*c == 1);
    return is_itself ? truth : at.append(w.not_, {truth});
  }
  return std::nullopt;
}

std::optional<Slot> select_of_not(const Rewriting& at) {
  const auto condition = under_not(at, at[0]);
  if (!condition) return std::nullopt;
  return at.append(at.primitive, {*condition, at[2], at[1]});
}

/// A branch that asks the same again.
std::optional<Slot> select_again(const Rewriting& at) {
  const auto then = at.match(at[1], at.primitive);
  if (then && (*then)[0] == at[0]) return at.append(at.primitive, {at[0], (*then)[1], at[2]});
  const auto otherwise = at.match(at[2], at.primitive);
  if (otherwise && (*otherwise)[0] == at[0])
    return at.append(at.primitive, {at[0], at[1], (*otherwise)[2]});
  return std::nullopt;
}

/// select(c, 1, 0), in any dtype.
std::optional<Slot> select_of_one_and_zero(const Rewriting& at) {
  if (!at.is_literal(at[1], 1) || !at.is_literal(at[2], 0)) return std::nullopt;
  return at.append(words().convert, {at[0]}, {{"dtype", {at.result.dtype}}});
}

/// A bool chosen by a bool, one branch being a literal.
std::optional<Slot> select_of_truths(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.result.dtype.is_bool()) return std::nullopt;
  if (at.is_literal(at[2], 0)) return at.append(w.and_, {at[0], at[1]});
  if (at.is_literal(at[1], 1)) return at.append(w.or_, {at[0], at[2]});
  return std::nullopt;
}

/// select(x = y, x, y) = y and select(x ≠ y, x, y) = x, where equals have one sign.
std::optional<Slot> select_of_equals(const Rewriting& at) {
  const Vocabulary& w = words();
  if (at.is_float()) return std::nullopt;
  for (const Primitive* p : {&w.eq, &w.ne}) {
    const auto test = at.match(at[0], *p);
    if (!test) continue;
    const bool same = (at[1] == (*test)[0] && at[2] == (*test)[1]) ||
                      (at[1] == (*test)[1] && at[2] == (*test)[0]);
    if (same) return p == &w.eq ? at[2] : at[1];
  }
  return std::nullopt;
}

/// Of integers: select(x < y, x, y) = min(x, y).
std::optional<Slot> select_of_smaller(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.result.dtype.is_integer()) return std::nullopt;
  for (const Primitive* p : {&w.lt, &w.le, &w.gt, &w.ge}) {
    const auto test = at.match(at[0], *p);
    if (!test) continue;
    const bool straight = at[1] == (*test)[0] && at[2] == (*test)[1];
    const bool turned = at[1] == (*test)[1] && at[2] == (*test)[0];
    if (!straight && !turned) return std::nullopt;
    const bool less = p == &w.lt || p == &w.le;
    return at.append(less == straight ? w.min : w.max, {(*test)[0], (*test)[1]});
  }
  return std::nullopt;
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.not_},
           {"¬(x = y) = (x ≠ y), ¬(x < y) = (y ≤ x)",
            "the second where neither may be NaN; where the comparison has no other use"},
           opposite_comparison);
  add_rule(
      rules, {&w.eq, &w.ne, &w.lt, &w.le, &w.gt, &w.ge},
      {"(x < x) = false, (x = x) = true", "the second where x may not be NaN; also ≠, ≤, >, ≥"},
      compared_with_itself);
  add_rule(rules, {&w.gt, &w.ge}, {"(x > y) = (y < x)", "so that equal steps meet; also ≥"},
           smaller_first);
  add_rule(rules, {&w.eq, &w.ne},
           {"(t = 1) = t, (t = 0) = ¬t", "t bool, or a number converted from it; also ≠"},
           truth_compared);
  add_rule(rules, {&w.select}, {"select(¬c, x, y) = select(c, y, x)", "by definition"},
           select_of_not);
  add_rule(rules, {&w.select},
           {"select(c, select(c, x, y), z) = select(c, x, z)", "likewise in the other branch"},
           select_again);
  add_rule(rules, {&w.select}, {"select(c, 1, 0) = convert c", "0 is +0"}, select_of_one_and_zero);
  add_rule(rules, {&w.select},
           {"select(c, t, false) = c & t, select(c, true, t) = c | t", "t bool"}, select_of_truths);
  add_rule(rules, {&w.select},
           {"select(x = y, x, y) = y", "not of floats, whose equal zeros may differ in sign"},
           select_of_equals);
  add_rule(rules, {&w.select}, {"select(x < y, x, y) = min(x, y)", "integers; also ≤, >, ≥"},
           select_of_smaller);
  return rules;
}

}  // namespace

Pass logic() {
  static const Rules rules = make_rules();
  return pass_of_rules("logic", "rules of comparisons and of choices between two values", rules);
}

}  // namespace hom::optimiser
