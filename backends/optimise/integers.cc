// backends/optimise/integers.cc -- rules of integers, which are a ring modulo 2ⁿ, and of bits
#include <limits>

#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>

namespace hom::optimiser {
namespace {

bool is_integer(const Rewriting& at) { return at.result.dtype.is_integer(); }

/// The literal of an integer slot, as the bits of a u64 (sign-extended).
std::optional<std::uint64_t> integer_of(const Rewriting& at, Slot slot) {
  const auto value = at.literal_of(slot);
  if (!value || !at.type(slot).dtype.is_integer()) return std::nullopt;
  return at.type(slot).dtype == u64 ? number<std::uint64_t>(*value)
                                    : static_cast<std::uint64_t>(number<std::int64_t>(*value));
}

/// A literal of the result's dtype with these bits; higher ones are cut off.
Slot integer_literal(const Rewriting& at, std::uint64_t bits) {
  const Dtype dtype = at.result.dtype;
  const int width = static_cast<int>(8 * dtype.size());
  if (dtype.is_unsigned_integer()) {
    if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
    return at.literal({bits}, at.result);
  }
  const auto shifted = static_cast<std::int64_t>(bits << (64 - width));
  return at.literal({shifted >> (64 - width)}, at.result);
}

struct WithLiteral {
  Slot other;
  std::uint64_t literal;
};
/// The operands of a commutative step, one of them a literal.
std::optional<WithLiteral> with_literal(const Rewriting& at, Slot a, Slot b) {
  if (const auto value = integer_of(at, b)) return WithLiteral{a, *value};
  if (const auto value = integer_of(at, a)) return WithLiteral{b, *value};
  return std::nullopt;
}
std::optional<WithLiteral> with_literal(const Rewriting& at) {
  return with_literal(at, at[0], at[1]);
}

/// (x + a) + b and (x·a)·b.
std::optional<Slot> joined_literals(const Rewriting& at) {
  if (!is_integer(at)) return std::nullopt;
  const auto outer = with_literal(at);
  if (!outer) return std::nullopt;
  const auto step = at.match(outer->other, at.primitive);
  const auto inner = step ? with_literal(at, (*step)[0], (*step)[1]) : std::nullopt;
  if (!inner) return std::nullopt;
  const bool is_sum = &at.primitive == &words().add;
  return at.append(at.primitive,
                   {inner->other, integer_literal(at, is_sum ? inner->literal + outer->literal
                                                             : inner->literal * outer->literal)});
}

std::optional<Slot> minus_literal(const Rewriting& at) {
  const auto value = is_integer(at) ? integer_of(at, at[1]) : std::nullopt;
  if (!value || *value == 0) return std::nullopt;
  return at.append(words().add, {at[0], integer_literal(at, 0 - *value)});
}

std::optional<Slot> times_zero(const Rewriting& at) {
  const auto both = is_integer(at) ? with_literal(at) : std::nullopt;
  return both && both->literal == 0 ? std::optional(integer_literal(at, 0)) : std::nullopt;
}

std::optional<Slot> cancelled(const Rewriting& at) {
  const Vocabulary& w = words();
  if (!is_integer(at)) return std::nullopt;
  if (&at.primitive == &w.sub) {
    if (at[0] == at[1]) return integer_literal(at, 0);
    if (const auto sum = at.match(at[0], w.add)) {
      if ((*sum)[0] == at[1]) return (*sum)[1];
      if ((*sum)[1] == at[1]) return (*sum)[0];
    }
    return std::nullopt;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto difference = at.match(at[i], w.sub);
    if (difference && (*difference)[1] == at[1 - i]) return (*difference)[0];
    const auto neg = at.match(at[i], w.neg);
    if (neg && (*neg)[0] == at[1 - i]) return integer_literal(at, 0);
  }
  return std::nullopt;
}

/// log₂ of a positive power of two.
std::optional<int> exponent_of(const Rewriting& at, Slot slot) {
  const auto value = integer_of(at, slot);
  const bool positive =
      value && *value != 0 && (at.result.dtype == u64 || static_cast<std::int64_t>(*value) > 0);
  if (!positive || (*value & (*value - 1)) != 0) return std::nullopt;
  return __builtin_ctzll(*value);
}

std::optional<Slot> quotient_by_power_of_two(const Rewriting& at) {
  const auto k = is_integer(at) ? exponent_of(at, at[1]) : std::nullopt;
  if (!k) return std::nullopt;
  return at.append(words().shift_right,
                   {at[0], integer_literal(at, static_cast<std::uint64_t>(*k))});
}

std::optional<Slot> remainder_by_power_of_two(const Rewriting& at) {
  const auto k = is_integer(at) ? exponent_of(at, at[1]) : std::nullopt;
  if (!k) return std::nullopt;
  return at.append(words().and_, {at[0], integer_literal(at, (std::uint64_t{1} << *k) - 1)});
}

std::optional<Slot> remainder_again(const Rewriting& at) {
  const auto inner = is_integer(at) ? at.match(at[0], words().rem) : std::nullopt;
  return inner && (*inner)[1] == at[1] ? std::optional(at[0]) : std::nullopt;
}

std::optional<Slot> shift_by_nothing(const Rewriting& at) {
  const auto amount = integer_of(at, at[1]);
  if (amount && *amount == 0) return at[0];
  const auto value = integer_of(at, at[0]);
  return value && *value == 0 ? std::optional(at[0]) : std::nullopt;
}

/// max with the smallest number and min with the largest.
std::optional<Slot> extreme_with_limit(const Rewriting& at) {
  if (!is_integer(at)) return std::nullopt;
  const auto both = with_literal(at);
  if (!both) return std::nullopt;
  const bool is_max = &at.primitive == &words().max;
  bool is_limit = false;
  bool is_other_limit = false;
  visit(at.result.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::same_as<T, bool>) {
      const T value = static_cast<T>(both->literal);
      const T low = std::numeric_limits<T>::min();
      const T high = std::numeric_limits<T>::max();
      is_limit = value == (is_max ? low : high);
      is_other_limit = value == (is_max ? high : low);
    }
  });
  if (is_limit) return both->other;
  return is_other_limit ? std::optional(integer_literal(at, both->literal)) : std::nullopt;
}

/// max(x, min(x, y)) = x of integers.
std::optional<Slot> absorbed(const Rewriting& at) {
  const Vocabulary& w = words();
  if (at.is_float()) return std::nullopt;
  const Primitive& p = at.primitive;
  const Primitive& opposite = &p == &w.max    ? w.min
                              : &p == &w.min  ? w.max
                              : &p == &w.and_ ? w.or_
                                              : w.and_;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto inner = at.match(at[i], opposite);
    if (inner && ((*inner)[0] == at[1 - i] || (*inner)[1] == at[1 - i])) return at[1 - i];
  }
  return std::nullopt;
}

/// x & 0, x & ~0, x | 0, x | ~0, x ^ 0, x ^ ~0; bool has one bit.
std::optional<Slot> bits_with_literal(const Rewriting& at) {
  const Vocabulary& w = words();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto value = at.literal_of(at[i]);
    if (!value) continue;
    const Slot other = at[1 - i];
    const bool is_bool = at.result.dtype.is_bool();
    bool zeros = false;
    bool ones = false;
    if (is_bool) {
      zeros = !number<bool>(*value);
      ones = !zeros;
    } else {
      const std::uint64_t bits = *integer_of(at, at[i]);
      const int width = static_cast<int>(8 * at.result.dtype.size());
      zeros = bits == 0;
      ones = bits << (64 - width) == ~std::uint64_t{0} << (64 - width);
    }
    if (&at.primitive == &w.and_ && (zeros || ones)) return zeros ? at[i] : other;
    if (&at.primitive == &w.or_ && (zeros || ones)) return zeros ? other : at[i];
    if (&at.primitive == &w.xor_ && zeros) return other;
    if (&at.primitive == &w.xor_ && ones) return at.append(w.not_, {other});
  }
  return std::nullopt;
}

Slot all_bits(const Rewriting& at, bool ones) {
  return at.result.dtype.is_bool() ? at.literal({ones}, at.result)
                                   : integer_literal(at, ones ? ~std::uint64_t{0} : 0);
}

/// x ^ x, x & ¬x, x | ¬x, and x & (x & y).
std::optional<Slot> bits_with_themselves(const Rewriting& at) {
  const Vocabulary& w = words();
  if (&at.primitive == &w.xor_ && at[0] == at[1]) return all_bits(at, false);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto inner = at.match(at[i], w.not_);
    if (inner && (*inner)[0] == at[1 - i]) return all_bits(at, &at.primitive != &w.and_);
    const auto same = at.match(at[i], at.primitive);
    if (same && &at.primitive != &w.xor_ && ((*same)[0] == at[1 - i] || (*same)[1] == at[1 - i]))
      return at[i];
  }
  return std::nullopt;
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.sub}, {"x − c = x + (−c)", "integers wrap, so they are a ring"},
           minus_literal);
  add_rule(rules, {&w.mul}, {"x·0 = 0", "integers; a float may be NaN or infinite"}, times_zero);
  add_rule(rules, {&w.add, &w.mul}, {"(x + a) + b = x + (a + b); likewise ·", "in a ring"},
           joined_literals);
  add_rule(rules, {&w.add, &w.sub},
           {"x − x = 0, (x + y) − y = x, (x − y) + y = x, x + −x = 0", "in a ring"}, cancelled);
  add_rule(rules, {&w.div}, {"x/2ᵏ = x ≫ k", "both round down"}, quotient_by_power_of_two);
  add_rule(rules, {&w.rem}, {"x rem 2ᵏ = x & (2ᵏ − 1)", "the remainder has the divisor's sign"},
           remainder_by_power_of_two);
  add_rule(rules, {&w.rem}, {"(x rem y) rem y = x rem y", "also where y is 0"}, remainder_again);
  add_rule(rules, {&w.shift_left, &w.shift_right}, {"x ≪ 0 = x, 0 ≪ x = 0; likewise ≫", "bits"},
           shift_by_nothing);
  add_rule(rules, {&w.max, &w.min},
           {"max(x, lowest) = x, max(x, highest) = highest; likewise min", "integers"},
           extreme_with_limit);
  add_rule(rules, {&w.max, &w.min, &w.and_, &w.or_},
           {"max(x, min(x, y)) = x, min(x, max(x, y)) = x, x & (x | y) = x, x | (x & y) = x",
            "lattices: integers and bool"},
           absorbed);
  add_rule(rules, {&w.and_, &w.or_, &w.xor_},
           {"x & 0 = 0, x & ~0 = x, x | 0 = x, x | ~0 = ~0, x ^ 0 = x, x ^ ~0 = ¬x", "bits"},
           bits_with_literal);
  add_rule(rules, {&w.and_, &w.or_, &w.xor_},
           {"x ^ x = 0, x & ¬x = 0, x | ¬x = ~0, x ^ ¬x = ~0, x & (x & y) = x & y, "
            "x | (x | y) = x | y",
            "bits"},
           bits_with_themselves);
  return rules;
}

}  // namespace

Pass integers() {
  static const Rules rules = make_rules();
  return pass_of_rules("integers", "rules of integers, which wrap, and of bits", rules);
}

}  // namespace hom::optimiser
