// backends/optimise/conversions.cc -- chains of conversions, and functions that are the identity
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>

namespace hom::optimiser {
namespace {

/// Binary digits that integers of the dtype may need, without the sign.
int digits_of_integer(Dtype dtype) {
  return static_cast<int>(8 * dtype.size()) - (dtype.is_signed_integer() ? 1 : 0);
}

int digits_of_float(Dtype dtype) {
  return dtype == f64 ? 53 : dtype == f32 ? 24 : dtype == f16 ? 11 : 8;
}

/// Whether every value of `from` is one of `to`.
bool holds(Dtype to, Dtype from) {
  if (from == to || from.is_bool()) return true;
  if (to.is_bool()) return false;
  if (to.is_float()) {
    if (from.is_integer()) return digits_of_integer(from) <= digits_of_float(to);
    return to == f64 || (to == f32 && from.size() == 2);
  }
  if (from.is_float()) return false;
  const bool sign_fits = to.is_signed_integer() || from.is_unsigned_integer();
  return sign_fits && digits_of_integer(from) <= digits_of_integer(to);
}

/// convert(convert(x, A), B) = convert(x, B), where A holds x.
std::optional<Slot> twice(const Rewriting& at) {
  const auto inner = at.match(at[0], words().convert);
  if (!inner) return std::nullopt;
  const Dtype from = at.type((*inner)[0]).dtype;
  const Dtype between = at.type(at[0]).dtype;
  const Dtype to = at.result.dtype;
  if (!holds(between, from)) return std::nullopt;
  // Floats saturate where integers wrap.
  const bool changes_rule = from.is_integer() && between.is_float() && to.is_integer();
  if (changes_rule && !holds(to, from)) return std::nullopt;
  return at.append(words().convert, {(*inner)[0]}, at.attributes);
}

std::optional<Slot> bits_twice(const Rewriting& at) {
  const Vocabulary& w = words();
  if (at.type(at[0]) == at.result) return at[0];
  const auto inner = at.match(at[0], w.bitcast);
  if (!inner) return std::nullopt;
  return at.append(w.bitcast, {(*inner)[0]}, at.attributes);
}

std::optional<Slot> operand_itself(const Rewriting& at) { return at[0]; }

/// A truth value of a number that was a truth value, and of a sign.
std::optional<Slot> number_of_truth(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto inner = at.match(at[0], w.convert);
  return inner && at.type((*inner)[0]).dtype.is_bool() ? std::optional(at[0]) : std::nullopt;
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.convert},
           {"convert(convert(x, A), B) = convert(x, B)",
            "where A holds every value of x's dtype; not from integers over floats to integers "
            "that do not, since floats saturate and integers wrap"},
           twice);
  add_rule(rules, {&w.bitcast}, {"bitcast(bitcast(x, A), B) = bitcast(x, B)", "bits stay"},
           bits_twice);
  add_rule(rules, {&w.stop_gradient}, {"stop_gradient x = x", "it says something to derivatives"},
           operand_itself);
  add_rule(rules, {&w.abs, &w.sign},
           {"|convert t| = convert t, sign(convert t) = convert t", "t bool: 0 and 1"},
           number_of_truth);
  return rules;
}

}  // namespace

Pass conversions() {
  static const Rules rules = make_rules();
  return pass_of_rules("conversions", "chains of conversions, and what only derivatives see",
                       rules);
}

}  // namespace hom::optimiser
