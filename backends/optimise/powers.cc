// backends/optimise/powers.cc -- powers with a literal exponent
#include <cmath>

#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>

namespace hom::optimiser {
namespace {

/// The largest exponents that are multiplied out: of floats each product rounds.
constexpr double largest_of_integers = 64;
constexpr double largest_of_floats = 16;

std::optional<double> exponent_of(const Rewriting& at) { return at.number_of(at[1]); }

std::optional<Slot> to_nothing(const Rewriting& at) {
  const auto n = exponent_of(at);
  return n && *n == 0 ? std::optional(at.literal(1)) : std::nullopt;
}

/// xⁿ by squaring: at most 2·log₂ n products.
Slot power(const Rewriting& at, Slot x, std::uint64_t n) {
  std::optional<Slot> product;
  for (;;) {
    if (n & 1) product = product ? at.append(words().mul, {*product, x}) : x;
    n >>= 1;
    if (n == 0) return *product;
    x = at.append(words().mul, {x, x});
  }
}

std::optional<Slot> of_integers(const Rewriting& at) {
  const auto n = exponent_of(at);
  if (!n || at.is_float() || *n < 1 || *n > largest_of_integers) return std::nullopt;
  return power(at, at[0], static_cast<std::uint64_t>(*n));
}

std::optional<Slot> of_floats(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto n = exponent_of(at);
  const bool is_whole = n && std::nearbyint(*n) == *n && std::fabs(*n) <= largest_of_floats;
  if (!at.is_float() || !is_whole || *n == 0) return std::nullopt;
  const Slot positive = power(at, at[0], static_cast<std::uint64_t>(std::fabs(*n)));
  return *n > 0 ? positive : at.append(w.div, {at.literal(1), positive});
}

std::optional<Slot> root(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto n = exponent_of(at);
  const Facts base = at.facts(at[0]);
  if (!n || std::fabs(*n) != 0.5 || !at.is_float() || base.negative || base.negative_zero)
    return std::nullopt;
  return at.append(*n > 0 ? w.sqrt : w.rsqrt, {at[0]});
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.pow}, {"x⁰ = 1", "for every x, NaN too, as in C"}, to_nothing);
  add_rule(rules, {&w.pow}, {"xⁿ = x·x·…", "integers, by squaring, n ≤ 64: a ring"}, of_integers);
  add_rule(
      rules, {&w.pow},
      {"xⁿ = x·x·…, x⁻ⁿ = 1/xⁿ",
       "floats, |n| ≤ 16. Even x² and x⁻¹ differ from the C library's pow, which is not rounded "
       "correctly, in the last bit of one number in 1200 to 1900 (glibc 2.36, f32 and f64)",
       true},
      of_floats);
  add_rule(rules, {&w.pow},
           {"x^½ = √x, x^−½ = rsqrt x",
            "where x is provably not below 0 nor −0; the C library's pow rounds otherwise now and "
            "then",
            true},
           root);
  return rules;
}

}  // namespace

Pass powers() {
  static const Rules rules = make_rules();
  return pass_of_rules("powers", "powers with literal exponents become products and roots", rules);
}

}  // namespace hom::optimiser
