// core/primitives/binary.cc -- functions of two or three elements, with their derivatives and
// transposes
#include <cmath>
#include <limits>

#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

/// coefficient · tangent where there is a tangent.
Tensor part(Tensor (*coefficient)(const Linearizing&), const Linearizing& at, std::size_t operand) {
  return at.dx[operand].is_empty() ? Tensor() : scale(coefficient(at), at.dx[operand]);
}

Tensor plus(const Tensor& a, const Tensor& b) {
  return a.is_empty() ? b : b.is_empty() ? a : a + b;
}

/// d f (x, y)(dx, dy) = ∂f/∂x·dx + ∂f/∂y·dy
DerivativeRule partials(Tensor (*in_x)(const Linearizing&), Tensor (*in_y)(const Linearizing&)) {
  return [in_x, in_y](const Linearizing& at) {
    // One after the other: C++ leaves the order of arguments open, and programs keep it.
    const Tensor along_y = part(in_y, at, 1);
    return std::vector{plus(part(in_x, at, 0), along_y)};
  };
}

Primitive binary(const char* name, DtypeSet dtypes) {
  return {.name = name,
          .min_operands = 2,
          .max_operands = 2,
          .dtypes = dtypes,
          .type = same_type,
          .batch = batch_elementwise,
          .shapes = "s, s → s"};
}

/// Where both operands are literals of a float dtype: the literal result, rounded once.
std::optional<Slot> folded(const Simplifying& at, double (*f)(double, double)) {
  const Attribute* a = at.builder.literal(at.operands[0]);
  const Attribute* b = at.builder.literal(at.operands[1]);
  if (!a || !b || !at.result.dtype.is_float()) return std::nullopt;
  return at.literal({f(number<double>(*a), number<double>(*b))});
}

/// x + x for x·2: the same value, and cheaper.
Slot doubled(const Simplifying& at, Slot x) {
  static const Primitive& add = standard_primitives().find("add");
  return at.append(add, {}, {x, x});
}

Slot negated(const Simplifying& at, Slot x) {
  static const Primitive& neg = standard_primitives().find("neg");
  return at.append(neg, {}, {x});
}

/// Rules that hold bit for bit: x·1, x·2, x·(−1).
std::optional<Slot> product_with_literal(const Simplifying& at, Slot x, Slot factor) {
  if (at.builder.is_literal(factor, 1)) return x;
  if (at.builder.is_literal(factor, 2)) return doubled(at, x);
  if (at.builder.is_literal(factor, -1) && !at.result.dtype.is_unsigned_integer())
    return negated(at, x);
  return std::nullopt;
}

std::optional<Slot> simplify_mul(const Simplifying& at) {
  if (const auto slot = folded(at, [](double a, double b) { return a * b; })) return slot;
  if (const auto slot = product_with_literal(at, at.operands[0], at.operands[1])) return slot;
  return product_with_literal(at, at.operands[1], at.operands[0]);
}

/// scale(r, t) with a literal: annihilated by 0, and mul where the literal is finite and not zero.
std::optional<Slot> simplify_scale(const Simplifying& at) {
  for (int i = 0; i < 2; ++i) {
    const Attribute* value = at.builder.literal(at.operands[static_cast<std::size_t>(i)]);
    if (!value) continue;
    const double factor = number<double>(*value);
    if (factor == 0 && at.builder.zeros() == Builder::Zeros::unsigned_in_scale)
      return at.literal({0.0});
    if (factor == 0 || !std::isfinite(factor)) continue;
    const Slot other = at.operands[static_cast<std::size_t>(1 - i)];
    static const Primitive& mul = standard_primitives().find("mul");
    return at.append(mul, {}, {other, at.operands[static_cast<std::size_t>(i)]});
  }
  return std::nullopt;
}

std::optional<Slot> simplify_add(const Simplifying& at) {
  if (const auto slot = folded(at, [](double a, double b) { return a + b; })) return slot;
  // x + (−0) = x for every x; x + 0 would turn −0 into 0. Of integers there is one zero.
  const double zero = at.result.dtype.is_float() ? -0.0 : 0.0;
  if (at.builder.is_literal(at.operands[0], zero)) return at.operands[1];
  if (at.builder.is_literal(at.operands[1], zero)) return at.operands[0];
  return std::nullopt;
}

std::optional<Slot> simplify_sub(const Simplifying& at) {
  if (const auto slot = folded(at, [](double a, double b) { return a - b; })) return slot;
  return at.builder.is_literal(at.operands[1], 0) ? std::optional(at.operands[0]) : std::nullopt;
}

std::optional<Slot> simplify_div(const Simplifying& at) {
  if (at.builder.is_literal(at.operands[1], 1)) return at.operands[0];
  return folded(at, [](double a, double b) { return a / b; });
}

/// f(x, x) = x
std::optional<Slot> idempotent(const Simplifying& at) {
  return at.operands[0] == at.operands[1] ? std::optional(at.operands[0]) : std::nullopt;
}

/// max(x, x) = x, and max(x, −∞) = x: the neutral element of floats.
std::optional<Slot> extreme_with_literal(const Simplifying& at, double neutral) {
  if (at.result.dtype.is_float() && at.builder.is_literal(at.operands[1], neutral))
    return at.operands[0];
  if (at.result.dtype.is_float() && at.builder.is_literal(at.operands[0], neutral))
    return at.operands[1];
  return idempotent(at);
}

void transpose_sum(const Transposing& at, bool subtract) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (at.linear[i]) {
      at.add(i, subtract && i == 1 ? -at.ct[0] : at.ct[0]);
    } else if (!is_zero(at.x[i])) {
      at.not_linear("one operand does not depend on the input, so the result is only affine");
    }
  }
}

void transpose_product(const Transposing& at) {
  if (at.linear[0] && at.linear[1]) at.not_linear("both factors depend on the input");
  const std::size_t varying = at.linear[0] ? 0 : 1;
  const Tensor& factor = at.x[1 - varying];
  at.add(varying, at.primitive.name == "scale" ? scale(factor, at.ct[0]) : at.ct[0] * factor);
}

/// ½ where a ties b, 1 where it wins, 0 where it loses.
Tensor share_of(const Tensor& winner, const Tensor& loser) {
  const Dtype dtype = winner.dtype();
  return where(winner == loser, 0.5, (winner > loser).astype(dtype));
}

bool is_integer_power(const Batching& at) { return at.types[1].dtype.is_integer(); }

Tensor zeros_or(const Tensor& x, const TensorType& type) { return x.is_empty() ? zeros(type) : x; }

}  // namespace

void add_binary_primitives(PrimitiveTable& table) {
  Primitive add = binary("add", numbers);
  add.simplify = simplify_add;
  add.derivative = [](const Linearizing& at) { return std::vector{plus(at.dx[0], at.dx[1])}; };
  add.transpose = [](const Transposing& at) { transpose_sum(at, false); };
  add.formula = "dx + dy";
  table.add(std::move(add));

  Primitive sub = binary("sub", numbers);
  sub.simplify = simplify_sub;
  sub.derivative = [](const Linearizing& at) {
    if (at.dx[1].is_empty()) return std::vector{at.dx[0]};
    return std::vector{at.dx[0].is_empty() ? -at.dx[1] : at.dx[0] - at.dx[1]};
  };
  sub.transpose = [](const Transposing& at) { transpose_sum(at, true); };
  sub.formula = "dx − dy";
  table.add(std::move(sub));

  Primitive mul = binary("mul", numbers);
  mul.simplify = simplify_mul;
  mul.derivative = partials([](const Linearizing& at) { return at.x[1]; },
                            [](const Linearizing& at) { return at.x[0]; });
  mul.transpose = transpose_product;
  mul.formula = "y·dx + x·dy";
  table.add(std::move(mul));

  Primitive scale_ = binary("scale", floats);
  scale_.simplify = simplify_scale;
  scale_.derivative = partials([](const Linearizing& at) { return at.x[1]; },
                               [](const Linearizing& at) { return at.x[0]; });
  scale_.transpose = transpose_product;
  scale_.formula = "scale(y, dx) + scale(x, dy)";
  table.add(std::move(scale_));

  Primitive div = binary("div", numbers);
  div.simplify = simplify_div;
  div.derivative = partials([](const Linearizing& at) { return 1 / at.x[1]; },
                            [](const Linearizing& at) { return -(at.y[0] / at.x[1]); });
  div.transpose = [](const Transposing& at) {
    if (at.linear[1]) at.not_linear("the divisor depends on the input");
    at.add(0, at.ct[0] / at.x[1]);
  };
  div.formula = "1/y·dx − (x/y)/y·dy";
  div.cost_factor = 8;
  table.add(std::move(div));

  Primitive rem = binary("rem", numbers);
  rem.derivative = [](const Linearizing& at) {
    const auto quotient = [](const Linearizing& l) { return -round((l.x[0] - l.y[0]) / l.x[1]); };
    return std::vector{plus(at.dx[0], part(quotient, at, 1))};
  };
  rem.formula = "dx − ⌊x/y⌋·dy";
  rem.cost_factor = 8;
  table.add(std::move(rem));

  Primitive pow_ = binary("pow", numbers);
  pow_.simplify = [](const Simplifying& at) {
    return at.builder.is_literal(at.operands[1], 1) ? std::optional(at.operands[0]) : std::nullopt;
  };
  pow_.derivative =
      partials([](const Linearizing& at) { return scale(at.x[1], pow(at.x[0], at.x[1] - 1)); },
               // 0 where the base is 0 and the exponent positive, since the power is 0 there.
               [](const Linearizing& at) { return scale(at.y[0], log(at.x[0])); });
  // Integers have no negative power.
  pow_.partial = true;
  pow_.batch = sparing(1, is_integer_power, batch_elementwise);
  pow_.formula = "y·x^(y−1)·dx + x^y·log x·dy";
  pow_.cost_factor = 12;
  table.add(std::move(pow_));

  Primitive max_ = binary("max", numbers);
  max_.simplify = [](const Simplifying& at) {
    return extreme_with_literal(at, -std::numeric_limits<double>::infinity());
  };
  max_.derivative = partials([](const Linearizing& at) { return share_of(at.x[0], at.x[1]); },
                             [](const Linearizing& at) { return share_of(at.x[1], at.x[0]); });
  max_.formula = "[x > y]·dx + [y > x]·dy, ½ each where x = y";
  max_.cost_factor = 16;
  table.add(std::move(max_));

  Primitive min_ = binary("min", numbers);
  min_.simplify = [](const Simplifying& at) {
    return extreme_with_literal(at, std::numeric_limits<double>::infinity());
  };
  min_.derivative = partials([](const Linearizing& at) { return share_of(-at.x[0], -at.x[1]); },
                             [](const Linearizing& at) { return share_of(-at.x[1], -at.x[0]); });
  min_.formula = "[x < y]·dx + [y < x]·dy, ½ each where x = y";
  min_.cost_factor = 18;
  table.add(std::move(min_));

  Primitive atan2_ = binary("atan2", floats);
  atan2_.derivative = partials(
      [](const Linearizing& at) { return at.x[1] / (at.x[0] * at.x[0] + at.x[1] * at.x[1]); },
      [](const Linearizing& at) { return -(at.x[0] / (at.x[0] * at.x[0] + at.x[1] * at.x[1])); });
  atan2_.formula = "x/(x² + y²)·dy − y/(x² + y²)·dx";
  atan2_.cost_factor = 10;
  table.add(std::move(atan2_));

  for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    Primitive compare = binary(name, every_dtype);
    compare.type = [](const Typing& typing) {
      return std::vector{bool_[elementwise_type(typing).shape]};
    };
    compare.no_derivative = "the result is bool";
    compare.cost_factor = 1;
    compare.shapes = "s, s → bool s";
    table.add(std::move(compare));
  }
  for (const char* name : {"and", "or", "xor"}) {
    Primitive bits = binary(name, booleans | integers);
    if (bits.name != "xor") bits.simplify = idempotent;
    bits.no_derivative = "bits do not vary";
    bits.cost_factor = 1;
    table.add(std::move(bits));
  }
  for (const char* name : {"shift_left", "shift_right"}) {
    Primitive shift = binary(name, integers);
    shift.no_derivative = "bits do not vary";
    shift.cost_factor = 1;
    table.add(std::move(shift));
  }

  table.add(
      {.name = "select",
       .min_operands = 3,
       .max_operands = 3,
       .type =
           [](const Typing& typing) {
             const auto& types = typing.operands;
             typing.require(
                 types[0] == bool_[types[0].shape] && types[1] == types[2] &&
                     types[0].shape == types[1].shape,
                 [&] {
                   return Complaint{
                       "select: takes bool and two tensors of one type and the same shape, got " +
                       list_types(types)};
                 });
             return std::vector{types[1]};
           },
       .simplify = [](const Simplifying& at) -> std::optional<Slot> {
         if (at.operands[1] == at.operands[2] || at.builder.is_literal(at.operands[0], 1))
           return at.operands[1];
         return at.builder.is_literal(at.operands[0], 0) ? std::optional(at.operands[2])
                                                         : std::nullopt;
       },
       .derivative =
           [](const Linearizing& at) {
             const TensorType type = at.x[1].type();
             return std::vector{where(at.x[0], zeros_or(at.dx[1], type), zeros_or(at.dx[2], type))};
           },
       .transpose =
           [](const Transposing& at) {
             if (at.linear[0]) at.not_linear("the condition depends on the input");
             const Tensor zero = zeros(at.types[1]);
             for (std::size_t i = 1; i < 3; ++i) {
               if (at.linear[i]) {
                 at.add(i,
                        i == 1 ? where(at.x[0], at.ct[0], zero) : where(at.x[0], zero, at.ct[0]));
               } else if (!is_zero(at.x[i])) {
                 at.not_linear(
                     "one branch does not depend on the input, so the result is only affine");
               }
             }
           },
       .batch = batch_elementwise,
       .shapes = "bool s, s, s → s",
       .formula = "where(c, dx, dy)"});
}

}  // namespace hom
