// backends/optimise/arithmetic.cc -- rules of arithmetic that keep every bit
//
// Where two floats meet, IEEE 754 fixes the result: that of the real numbers, rounded once. So
// rules hold where both sides are the same real number rounded once, and zeros have the same sign.
// Which NaN a NaN is does not count.
#include <cmath>
#include <limits>

#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>

namespace hom::optimiser {
namespace {

std::optional<Slot> negated(const Rewriting& at, Slot slot) {
  const auto neg = at.match(slot, words().neg);
  return neg ? std::optional((*neg)[0]) : std::nullopt;
}

std::optional<Slot> sum_with_negative(const Rewriting& at) {
  if (const auto y = negated(at, at[1])) return at.append(words().sub, {at[0], *y});
  if (const auto x = negated(at, at[0])) return at.append(words().sub, {at[1], *x});
  return std::nullopt;
}

std::optional<Slot> difference_with_negative(const Rewriting& at) {
  const auto y = negated(at, at[1]);
  return y ? std::optional(at.append(words().add, {at[0], *y})) : std::nullopt;
}

std::optional<Slot> difference_from_zero(const Rewriting& at) {
  if (!at.is_literal(at[0], at.is_float() ? -0.0 : 0.0) || at.result.dtype.is_unsigned_integer())
    return std::nullopt;
  return at.append(words().neg, {at[1]});
}

/// x·y or x/y: two signs cancel, and one comes out, where it may cancel with another.
std::optional<Slot> signs_of_factors(const Rewriting& at) {
  const Vocabulary& w = words();
  // Division of integers rounds down.
  if (&at.primitive == &w.div && !at.is_float()) return std::nullopt;
  const auto x = negated(at, at[0]);
  const auto y = negated(at, at[1]);
  if (x && y) return at.append(at.primitive, {*x, *y});
  for (std::size_t i = 0; i < 2; ++i) {
    const auto inner = i == 0 ? x : y;
    if (!inner) continue;
    const Slot other = at[1 - i];
    if (const auto c = at.number_of(other); c && at.is_float()) {
      const Slot opposite = at.literal({-*c}, at.type(other));
      return i == 0 ? at.append(at.primitive, {*inner, opposite})
                    : at.append(at.primitive, {opposite, *inner});
    }
    if (!at.is_used_once(at[i])) continue;
    return at.append(w.neg, {i == 0 ? at.append(at.primitive, {*inner, other})
                                    : at.append(at.primitive, {other, *inner})});
  }
  return std::nullopt;
}

/// −(x·c) and −(x/c) with a literal. Not scale(x, ∞), which is +0 where x is 0 for both signs of ∞.
std::optional<Slot> negative_of_multiple(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!at.is_float() || !at.is_used_once(at[0])) return std::nullopt;
  for (const Primitive* p : {&w.mul, &w.div}) {
    const auto product = at.match(at[0], *p);
    if (!product) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto c = at.number_of((*product)[i]);
      if (!c) continue;
      const Slot opposite = at.literal({-*c}, at.result);
      return i == 0 ? at.append(*p, {opposite, (*product)[1]})
                    : at.append(*p, {(*product)[0], opposite});
    }
  }
  return std::nullopt;
}

/// Whether multiplying by 1/c is dividing by c: c is a power of two, and so is 1/c.
bool has_exact_reciprocal(double c, Dtype dtype) {
  int exponent = 0;
  if (!std::isfinite(c) || std::fabs(std::frexp(c, &exponent)) != 0.5) return false;
  // c = ±2^(exponent − 1); both it and 1/c are normal numbers.
  const int power = std::abs(exponent - 1);
  return power <= (dtype == f16 ? 14 : dtype == f64 ? 1022 : 126);
}

std::optional<Slot> quotient_by_power_of_two(const Rewriting& at) {
  const auto c = at.number_of(at[1]);
  if (!c || !at.is_float() || !has_exact_reciprocal(*c, at.result.dtype)) return std::nullopt;
  return at.append(words().mul, {at[0], at.literal(1 / *c)});
}

/// 1/√x: what rsqrt computes, except that 16-bit floats would be rounded in between.
std::optional<Slot> reciprocal_root(const Rewriting& at) {
  if (!at.is_literal(at[0], 1) || (at.result.dtype != f32 && at.result.dtype != f64))
    return std::nullopt;
  const auto root = at.match(at[1], words().sqrt);
  return root && at.is_used_once(at[1]) ? std::optional(at.append(words().rsqrt, {(*root)[0]}))
                                        : std::nullopt;
}

std::optional<Slot> guard_not_needed(const Rewriting& at) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Facts own = at.facts(at[i]);
    const Facts other = at.facts(at[1 - i]);
    if (own.finite() && (!own.zero || other.finite()))
      return at.append(words().mul, {at[0], at[1]});
  }
  return std::nullopt;
}

std::optional<Slot> plus_zero(const Rewriting& at) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (at.is_float() && at.is_literal(at[i], 0) && !at.facts(at[1 - i]).negative_zero)
      return at[1 - i];
  }
  return std::nullopt;
}

/// x + (y + 0): the zero only matters where both are −0.
std::optional<Slot> plus_zero_inside(const Rewriting& at) {
  if (!at.is_float()) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto inner = at.match(at[i], words().add);
    if (!inner || at.facts(at[1 - i]).negative_zero) continue;
    for (std::size_t j = 0; j < 2; ++j) {
      if (at.is_literal((*inner)[j], 0))
        return at.append(words().add, {(*inner)[1 - j], at[1 - i]});
    }
  }
  return std::nullopt;
}

std::optional<Slot> square_of_magnitude(const Rewriting& at) {
  if (at[0] != at[1]) return std::nullopt;
  const auto x = at.match(at[0], words().abs);
  return x ? std::optional(at.append(words().mul, {(*x)[0], (*x)[0]})) : std::nullopt;
}

std::optional<Slot> magnitude(const Rewriting& at) {
  const auto negative = negated(at, at[0]);
  if (negative && !at.result.dtype.is_unsigned_integer())
    return at.append(words().abs, {*negative});
  const Facts x = at.facts(at[0]);
  if (!x.negative && !x.negative_zero) return at[0];
  return std::nullopt;
}

/// round, floor and ceil of what is whole already.
std::optional<Slot> rounding_of_whole(const Rewriting& at) {
  const Vocabulary& w = words();
  for (const Primitive* p : {&w.round, &w.floor, &w.ceil}) {
    if (at.is(at[0], *p)) return at[0];
  }
  const auto from = at.match(at[0], w.convert);
  return from && !at.type((*from)[0]).dtype.is_float() ? std::optional(at[0]) : std::nullopt;
}

/// max(x, max(x, y)), max(max(x, y), x) and max(max(x, y), y); not max(y, max(x, y)), which may
/// differ from max(x, y) in the sign of zero.
std::optional<Slot> extreme_again(const Rewriting& at) {
  if (const auto left = at.match(at[0], at.primitive);
      left && (at[1] == (*left)[0] || at[1] == (*left)[1]))
    return at[0];
  if (const auto right = at.match(at[1], at.primitive);
      right && (at[0] == (*right)[0] || (!at.is_float() && at[0] == (*right)[1])))
    return at[1];
  return std::nullopt;
}

/// max(max(x, a), b) with literals of which one is larger.
std::optional<Slot> extreme_of_literals(const Rewriting& at) {
  if (!at.is_float()) return std::nullopt;
  const auto inner = at.match(at[0], at.primitive);
  const auto b = at.number_of(at[1]);
  const auto a = inner ? at.number_of((*inner)[1]) : std::nullopt;
  if (!a || !b || std::isnan(*a) || std::isnan(*b) || *a == *b) return std::nullopt;
  const bool is_max = &at.primitive == &words().max;
  return at.append(at.primitive, {(*inner)[0], at.literal(is_max == (*a > *b) ? *a : *b)});
}

/// Operands of commutative steps in the order of their definitions, so that equal ones meet.
std::optional<Slot> in_order(const Rewriting& at) {
  if (at[0] <= at[1]) return std::nullopt;
  return at.append(at.primitive, {at[1], at[0]});
}

std::optional<Slot> finite_by_facts(const Rewriting& at) {
  if (!at.facts(at[0]).finite()) return std::nullopt;
  return at.literal({true}, at.result);
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.add}, {"x + −y = x − y", "the same real number, rounded once; so is −x + y"},
           sum_with_negative);
  add_rule(rules, {&w.sub}, {"x − −y = x + y", "the same real number, rounded once"},
           difference_with_negative);
  add_rule(rules, {&w.sub}, {"−0 − x = −x", "also where x is ±0; of integers, 0 − x"},
           difference_from_zero);
  add_rule(rules, {&w.mul, &w.div},
           {"−x·−y = x·y, −x·c = x·(−c), −x·y = −(x·y); likewise x/y",
            "rounding to nearest is symmetric, so the sign is a factor; floats, and products of "
            "integers. The last one only where −x has no other use"},
           signs_of_factors);
  add_rule(rules, {&w.neg}, {"−(x·c) = x·(−c), −(x/c) = x/(−c)", "rounding is symmetric"},
           negative_of_multiple);
  add_rule(rules, {&w.div},
           {"x/2ᵏ = x·2⁻ᵏ", "both are x·2⁻ᵏ rounded once, where 2ᵏ and 2⁻ᵏ are normal numbers"},
           quotient_by_power_of_two);
  add_rule(rules, {&w.div},
           {"1/√x = rsqrt x", "rsqrt is defined so; f32 and f64, for 16 bits round in between"},
           reciprocal_root);
  add_rule(rules, {&w.scale},
           {"scale(x, y) = x·y",
            "where a factor is provably finite and not zero, or both are provably finite"},
           guard_not_needed);
  add_rule(
      rules, {&w.add},
      {"x + 0 = x", "where x is provably not −0: sums from +0, magnitudes, converted integers"},
      plus_zero);
  add_rule(rules, {&w.add}, {"x + (y + 0) = x + y", "where x is provably not −0"},
           plus_zero_inside);
  add_rule(rules, {&w.mul}, {"|x|·|x| = x·x", "the sign of a product of equals is +"},
           square_of_magnitude);
  add_rule(rules, {&w.abs}, {"|−x| = |x|, |x| = x", "the second where x is provably not below 0"},
           magnitude);
  add_rule(rules, {&w.round, &w.floor, &w.ceil},
           {"⌊x⌋ = x", "where x is a rounding or a converted integer; likewise round and ceil"},
           rounding_of_whole);
  add_rule(rules, {&w.max, &w.min},
           {"max(x, max(x, y)) = max(x, y)",
            "max gives the first of equals, so also max(max(x, y), y); likewise min"},
           extreme_again);
  add_rule(rules, {&w.max, &w.min},
           {"max(max(x, a), b) = max(x, max(a, b))",
            "for literals a ≠ b that are not NaN; likewise min"},
           extreme_of_literals);
  add_rule(rules, {&w.is_finite}, {"is_finite x = true", "where x is provably finite"},
           finite_by_facts);
  add_rule(rules, {&w.add, &w.mul, &w.scale, &w.eq, &w.ne, &w.and_, &w.or_, &w.xor_},
           {"x + y = y + x",
            "operands in the order of their definition, so that equal steps meet; "
            "also ·, scale, =, ≠, and, or, xor"},
           in_order);
  return rules;
}

}  // namespace

Pass arithmetic() {
  static const Rules rules = make_rules();
  return pass_of_rules("arithmetic", "rules of arithmetic that keep every bit", rules);
}

}  // namespace hom::optimiser
