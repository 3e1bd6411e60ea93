// backends/optimise/facts.cc -- how facts follow from facts
#include <hom/backends/optimise/facts.h>

#include <algorithm>
#include <cmath>

#include <hom/backends/optimise/vocabulary.h>

namespace hom::optimiser {
namespace {

Facts facts_of_value(double value) {
  return {.nan = std::isnan(value),
          .infinite = std::isinf(value),
          .negative_zero = value == 0 && std::signbit(value),
          .negative = value < 0,
          .zero = value == 0};
}

/// What either may be.
Facts either(const Facts& a, const Facts& b) {
  return {.nan = a.nan || b.nan,
          .infinite = a.infinite || b.infinite,
          .negative_zero = a.negative_zero || b.negative_zero,
          .negative = a.negative || b.negative,
          .zero = a.zero || b.zero};
}

/// Of a dtype, whatever the value is.
Facts unknown(Dtype dtype) {
  const bool is_float = dtype.is_float();
  return {.nan = is_float,
          .infinite = is_float,
          .negative_zero = is_float,
          .negative = is_float || dtype.is_signed_integer(),
          .zero = true};
}

/// Elements that are moved, or picked.
bool moves_elements(const Primitive& p) {
  const Vocabulary& w = words();
  return &p == &w.broadcast || &p == &w.reshape || &p == &w.transpose || &p == &w.slice ||
         &p == &w.stop_gradient || &p == &w.reduce_max || &p == &w.reduce_min ||
         &p == &w.dynamic_slice || &p == &w.concat;
}

Facts of_conversion(const Facts& x, Dtype from, Dtype to) {
  if (!to.is_float()) return unknown(to);
  Facts y = x;
  const bool narrows = from.size() >= to.size() && from != to;
  const bool fits =
      from.is_bool() || to == f32 || to == f64 || to == bf16 || from == i8 || from == u8;
  if (from.is_float()) {
    // Rounding may overflow, and underflow to a zero of the same sign.
    y.infinite = x.infinite || narrows;
    y.zero = x.zero || narrows;
    y.negative_zero = x.negative_zero || (narrows && x.negative);
  } else {
    y.infinite = !fits;
  }
  return y;
}

Facts of_sum(const Facts& x, const Facts& y) {
  // −0 is the sum of two −0 only: what cancels is +0, and sums do not underflow.
  return {.nan = x.nan || y.nan || (x.infinite && y.infinite),
          .infinite = true,
          .negative_zero = x.negative_zero && y.negative_zero,
          .negative = x.negative || y.negative,
          .zero = true};
}

Facts of_product(const Facts& x, const Facts& y, bool is_square, bool is_guarded) {
  const bool zero_times_infinity = (x.zero && y.infinite) || (y.zero && x.infinite);
  const bool may_change_sign =
      !is_square && (x.negative || x.negative_zero || y.negative || y.negative_zero);
  return {.nan = x.nan || y.nan || (zero_times_infinity && !is_square && !is_guarded),
          .infinite = true,
          .negative_zero = may_change_sign,
          .negative = may_change_sign && (x.negative || y.negative),
          .zero = true};
}

Facts of_extreme(const Facts& x, const Facts& y, bool is_max) {
  Facts z = either(x, y);
  z.negative = is_max ? x.negative && y.negative : x.negative || y.negative;
  return z;
}

/// A branch of `select` that is taken only where the condition says that it is finite.
Facts if_taken(const Builder& builder, Slot condition, Slot branch, Facts facts) {
  const auto test = builder.definition(condition);
  if (test && &test->primitive == &words().is_finite && test->operands[0] == branch)
    facts.nan = facts.infinite = false;
  return facts;
}

Facts of_unary(const Primitive& p, const Facts& x, Facts otherwise) {
  const Vocabulary& w = words();
  Facts y = otherwise;
  if (&p == &w.neg) {
    y = x;
    y.negative = true;
    y.negative_zero = x.zero;
  } else if (&p == &w.abs) {
    y = x;
    y.negative = y.negative_zero = false;
  } else if (&p == &w.exp) {
    y.nan = x.nan;
    y.negative = y.negative_zero = false;
  } else if (&p == &w.sqrt) {
    y.nan = x.nan || x.negative;
    y.infinite = x.infinite;
    y.negative = false;
    y.negative_zero = x.negative_zero;
    y.zero = x.zero;
  } else if (&p == &w.logistic) {
    y.nan = x.nan;
    y.infinite = y.negative = y.negative_zero = false;
  } else if (&p == &w.tanh || &p == &w.erf || &p == &w.sign) {
    y.nan = x.nan;
    y.infinite = false;
    y.negative = x.negative;
    y.negative_zero = x.negative_zero || x.negative;
  } else if (&p == &w.sin || &p == &w.cos) {
    y.nan = x.nan || x.infinite;
    y.infinite = false;
  } else if (&p == &w.floor || &p == &w.ceil || &p == &w.round) {
    y.nan = x.nan;
    y.infinite = x.infinite;
    y.negative = x.negative;
    y.negative_zero = x.negative_zero || x.negative;
  }
  return y;
}

Facts facts_of_step(const Builder& builder, const Step& step, Slot slot, FactTable& facts) {
  const Vocabulary& w = words();
  const Primitive& p = step.primitive;
  const Dtype dtype = builder.type(slot).dtype;
  const auto x = [&](std::size_t i) { return facts(step.operands[i]); };
  const Facts otherwise = unknown(dtype);
  if (&p == &w.constant) {
    Facts exact = facts_of_value(number<double>(step.attributes.get("value")));
    return dtype.is_float() ? exact : Facts{false, false, false, exact.negative, exact.zero};
  }
  if (&p == &w.iota) {
    const std::int64_t extent =
        builder.type(slot).shape[static_cast<std::size_t>(step.attributes.integer("axis"))];
    Facts positions{false, dtype == f16 && extent > 65504, false, false, true};
    positions.negative = dtype.is_signed_integer() && extent > (std::int64_t{1} << 7);
    return positions;
  }
  if (moves_elements(p)) {
    Facts y = x(0);
    if (&p == &w.concat) {
      for (std::size_t i = 1; i < step.operands.size(); ++i) y = either(y, x(i));
    }
    return y;
  }
  if (&p == &w.gather && step.attributes.string("mode") != "drop") {
    // An empty axis that is clipped gives zeros.
    Facts y = x(0);
    y.zero = true;
    return y;
  }
  if (&p == &w.convert) return of_conversion(x(0), builder.type(step.operands[0]).dtype, dtype);
  if (&p == &w.select) {
    return either(if_taken(builder, step.operands[0], step.operands[1], x(1)), x(2));
  }
  if (!dtype.is_float()) return otherwise;
  if (&p == &w.add) return of_sum(x(0), x(1));
  if (&p == &w.sub) {
    Facts minus = x(1);
    minus.negative = true;
    minus.negative_zero = minus.zero;
    return of_sum(x(0), minus);
  }
  if (&p == &w.mul || &p == &w.scale) {
    return of_product(x(0), x(1), step.operands[0] == step.operands[1], &p == &w.scale);
  }
  if (&p == &w.max || &p == &w.min) return of_extreme(x(0), x(1), &p == &w.max);
  if (&p == &w.reduce_sum) {
    // Sums start from +0.
    const Facts terms = x(0);
    return {.nan = terms.nan || terms.infinite || terms.negative,
            .infinite = true,
            .negative_zero = false,
            .negative = terms.negative,
            .zero = true};
  }
  if (step.operands.size() == 1) return of_unary(p, x(0), otherwise);
  return otherwise;
}

}  // namespace

Facts FactTable::operator()(Slot slot) {
  while (known_.size() <= slot) {
    const auto next = static_cast<Slot>(known_.size());
    const auto step = builder_.definition(next);
    Facts facts = unknown(builder_.type(next).dtype);
    if (step && step->result_count == 1) facts = facts_of_step(builder_, *step, next, *this);
    known_.push_back(facts);
  }
  return known_[slot];
}

}  // namespace hom::optimiser
