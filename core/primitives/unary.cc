// core/primitives/unary.cc -- functions of one element, with their derivatives
#include <cmath>
#include <numbers>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/special.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Coefficient = Tensor (*)(const Tensor& x, const Tensor& y);

/// d f (x)(dx) = f′(x)·dx
DerivativeRule scaled_by(Coefficient coefficient) {
  return [coefficient](const Linearizing& at) -> std::vector<Tensor> {
    return {scale(coefficient(at.x[0], at.y[0]), at.dx[0])};
  };
}

struct Row {
  const char* name;
  Coefficient coefficient;
  const char* formula;
  double cost_factor;
};

/// Functions on floats. x is the operand and y the result; the formula is what the table in the
/// documentation shows.
constexpr Row float_functions[] = {
    {"sqrt", [](const Tensor&, const Tensor& y) { return 0.5 / y; }, "½/y · dx", 4.5},
    {"rsqrt", [](const Tensor& x, const Tensor& y) { return -0.5 * (y / x); }, "−½·y/x · dx", 6},
    {"exp", [](const Tensor&, const Tensor& y) { return y; }, "y · dx", 4},
    {"expm1", [](const Tensor&, const Tensor& y) { return y + 1; }, "(y + 1) · dx", 4.5},
    {"log", [](const Tensor& x, const Tensor&) { return 1 / x; }, "1/x · dx", 4.5},
    {"log1p", [](const Tensor& x, const Tensor&) { return 1 / (1 + x); }, "1/(1 + x) · dx", 6},
    {"sin", [](const Tensor& x, const Tensor&) { return cos(x); }, "cos x · dx", 4},
    {"cos", [](const Tensor& x, const Tensor&) { return -sin(x); }, "−sin x · dx", 4.5},
    {"tan", [](const Tensor&, const Tensor& y) { return 1 + y * y; }, "(1 + y²) · dx", 6},
    {"asin", [](const Tensor& x, const Tensor&) { return rsqrt((1 - x) * (1 + x)); },
     "1/√(1 − x²) · dx", 8.5},
    {"acos", [](const Tensor& x, const Tensor&) { return -rsqrt((1 - x) * (1 + x)); },
     "−1/√(1 − x²) · dx", 9.5},
    {"atan", [](const Tensor& x, const Tensor&) { return 1 / (1 + x * x); }, "1/(1 + x²) · dx",
     7.5},
    {"sinh", [](const Tensor& x, const Tensor&) { return cosh(x); }, "cosh x · dx", 4},
    {"cosh", [](const Tensor& x, const Tensor&) { return sinh(x); }, "sinh x · dx", 4},
    {"tanh", [](const Tensor&, const Tensor& y) { return (1 - y) * (1 + y); }, "(1 − y²) · dx",
     7.5},
    {"asinh", [](const Tensor& x, const Tensor&) { return rsqrt(1 + x * x); }, "1/√(1 + x²) · dx",
     7},
    {"acosh", [](const Tensor& x, const Tensor&) { return rsqrt((x - 1) * (x + 1)); },
     "1/√(x² − 1) · dx", 8.5},
    {"atanh", [](const Tensor& x, const Tensor&) { return 1 / ((1 - x) * (1 + x)); },
     "1/(1 − x²) · dx", 9},
    {"logistic", [](const Tensor&, const Tensor& y) { return y * (1 - y); }, "y·(1 − y) · dx", 6},
    {"erf",
     [](const Tensor& x, const Tensor&) { return std::numbers::inv_sqrtpi * 2 * exp(-(x * x)); },
     "2/√π·e^(−x²) · dx", 8},
    {"erfc",
     [](const Tensor& x, const Tensor&) { return std::numbers::inv_sqrtpi * -2 * exp(-(x * x)); },
     "−2/√π·e^(−x²) · dx", 8},
    {"erfcx",
     [](const Tensor& x, const Tensor& y) { return 2 * (x * y) - 2 * std::numbers::inv_sqrtpi; },
     "(2xy − 2/√π) · dx", 8},
    {"erf_inv",
     [](const Tensor&, const Tensor& y) { return exp(y * y) * (0.5 / std::numbers::inv_sqrtpi); },
     "√π/2·e^(y²) · dx", 7},
    {"erfc_inv",
     [](const Tensor&, const Tensor& y) { return exp(y * y) * (-0.5 / std::numbers::inv_sqrtpi); },
     "−√π/2·e^(y²) · dx", 7},
    {"lgamma", [](const Tensor& x, const Tensor&) { return digamma(x); }, "ψ(x) · dx", 4},
};

std::optional<Slot> negation_of_negation(const Simplifying& at) {
  if (const Attribute* value = at.builder.literal(at.operands[0]);
      value && at.result.dtype.is_float()) {
    return at.literal({-number<double>(*value)});
  }
  return operand_of(at.builder, at.operands[0], at.primitive.name);
}

/// f ∘ f = f
std::optional<Slot> idempotent(const Simplifying& at) {
  return operand_of(at.builder, at.operands[0], at.primitive.name) ? std::optional(at.operands[0])
                                                                   : std::nullopt;
}

Primitive unary(const char* name, DtypeSet dtypes) {
  return {.name = name,
          .dtypes = dtypes,
          .type = same_type,
          .batch = batch_elementwise,
          .shapes = "s → s"};
}

Primitive flat(const char* name, DtypeSet dtypes) {
  Primitive p = unary(name, dtypes);
  p.derivative = [](const Linearizing&) { return std::vector<Tensor>(1); };
  p.formula = "0";
  p.cost_factor = 2;
  return p;
}

}  // namespace

void add_unary_primitives(PrimitiveTable& table) {
  Primitive neg = unary("neg", numbers);
  neg.simplify = negation_of_negation;
  neg.derivative = [](const Linearizing& at) { return std::vector{-at.dx[0]}; };
  neg.transpose = [](const Transposing& at) { at.add(0, -at.ct[0]); };
  neg.formula = "−dx";
  table.add(std::move(neg));

  Primitive abs_ = unary("abs", numbers);
  abs_.simplify = idempotent;
  abs_.derivative = scaled_by([](const Tensor& x, const Tensor&) { return sign(x); });
  abs_.formula = "sign x · dx";
  table.add(std::move(abs_));

  table.add(flat("sign", numbers));
  for (const char* name : {"round", "floor", "ceil"}) {
    Primitive p = flat(name, floats);
    p.simplify = idempotent;
    table.add(std::move(p));
  }

  for (const Row& row : float_functions) {
    Primitive p = unary(row.name, floats);
    p.derivative = scaled_by(row.coefficient);
    p.formula = row.formula;
    p.cost_factor = row.cost_factor;
    table.add(std::move(p));
  }

  table.add(
      {.name = "is_finite",
       .dtypes = floats,
       .type =
           [](const Typing& typing) { return std::vector{bool_[elementwise_type(typing).shape]}; },
       .no_derivative = "the result is bool",
       .batch = batch_elementwise,
       .cost_factor = 1,
       .shapes = "s → bool s"});
  table.add(
      {.name = "not",
       .dtypes = booleans | integers,
       .type = same_type,
       .simplify =
           [](const Simplifying& at) { return operand_of(at.builder, at.operands[0], "not"); },
       .no_derivative = "bits do not vary",
       .batch = batch_elementwise,
       .cost_factor = 1,
       .shapes = "s → s"});

  table.add({.name = "convert",
             .attributes = {{"dtype", AttributeSpec::Kind::dtype}},
             .type =
                 [](const Typing& typing) {
                   return std::vector{typing.attributes.dtype("dtype")[typing.operands[0].shape]};
                 },
             .simplify = [](const Simplifying& at) -> std::optional<Slot> {
               if (at.builder.type(at.operands[0]) == at.result) return at.operands[0];
               const Attribute* value = at.builder.literal(at.operands[0]);
               return value ? std::optional(at.literal(*value)) : std::nullopt;
             },
             .derivative =
                 [](const Linearizing& at) {
                   return std::vector{convert(at.dx[0], at.attributes.dtype("dtype"))};
                 },
             .transpose =
                 [](const Transposing& at) {
                   if (!at.types[0].dtype.is_float())
                     at.not_linear("a conversion from " + to_string(at.types[0].dtype) + " rounds");
                   at.add(0, convert(at.ct[0], at.types[0].dtype));
                 },
             .batch = batch_elementwise,
             .shapes = "s → s",
             .formula = "convert dx (floats)"});
  table.add({.name = "bitcast",
             .attributes = {{"dtype", AttributeSpec::Kind::dtype}},
             .type =
                 [](const Typing& typing) {
                   const Dtype to = typing.attributes.dtype("dtype");
                   const TensorType& from = typing.operands[0];
                   typing.require(
                       to.size() == from.dtype.size() && to.is_bool() == from.dtype.is_bool(), [&] {
                         return Complaint{"bitcast: " + to_string(from) + " to " + to_string(to) +
                                              ": the sizes of elements differ",
                                          "bitcast keeps the bits; convert keeps the value"};
                       });
                   return std::vector{to[from.shape]};
                 },
             .no_derivative = "bits do not vary smoothly; convert keeps the value",
             .batch = batch_elementwise,
             .cost_factor = 1,
             .shapes = "s → s"});
  table.add({.name = "stop_gradient",
             .type = [](const Typing& typing) { return std::vector{typing.operands[0]}; },
             .derivative = [](const Linearizing&) { return std::vector<Tensor>(1); },
             .batch = batch_elementwise,
             .cost_factor = 2,
             .shapes = "s → s",
             .formula = "0, by definition"});
}

}  // namespace hom
