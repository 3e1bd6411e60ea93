// categories/gad.cc -- the rules of the paper, and those of the table for what it does not have
#include <hom/categories/gad.h>

#include <algorithm>

#include <hom/categories/linearize.h>
#include <hom/core/builder.h>
#include <hom/core/executor.h>
#include <hom/core/operations/elementwise.h>

namespace hom::categories {

Environment tangent(const Environment& a) { return factors(a, tangent_positions(a)); }

Positions tangent_positions(const Environment& a) {
  Positions list;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype.is_float()) list.push_back(i);
  }
  return list;
}

Positions tangent_positions(const Environment& a, const Positions& positions) {
  Positions list;
  for (std::size_t position : positions) {
    if (!a[position].dtype.is_float()) continue;
    std::size_t floats_before = 0;
    for (std::size_t i = 0; i < position; ++i) floats_before += a[i].dtype.is_float();
    list.push_back(floats_before);
  }
  return list;
}

std::optional<Tensor> slope(const Operation& operation, const Tensor& x) {
  const LocationScope line(operation.at);
  if (operation.is("sin")) return cos(x);
  if (operation.is("cos")) return -sin(x);
  if (operation.is("exp")) return exp(x);
  if (operation.is("log")) return 1 / x;
  if (operation.is("sqrt")) return 1 / (2 * sqrt(x));
  if (operation.is("tanh")) return 1 / (cosh(x) * cosh(x));
  if (operation.is("logistic")) return exp(-x) / ((1 + exp(-x)) * (1 + exp(-x)));
  return std::nullopt;
}

bool is_own_derivative(const Operation& operation) {
  constexpr const char* linear[] = {
      "neg",       "add",        "sub",    "convert", "broadcast_in_dim",
      "reshape",   "slice",      "concat", "gather",  "dynamic_slice",
      "transpose", "reduce_sum", "pad",    "cumsum",  "select"};
  return std::any_of(std::begin(linear), std::end(linear),
                     [&](const char* name) { return operation.is(name); });
}

Operation section(const Operation& operation, const Tensors& x, const Positions& keep) {
  Operation part = operation;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::find(keep.begin(), keep.end(), i) == keep.end()) part.known[i] = x[i];
  }
  return part;
}

std::pair<Linearization, Tensors> derivative_by_table(const Operation& operation,
                                                      const Tensors& x) {
  Builder builder;
  std::vector<Slot> operands;
  for (const TensorType& type : operation.types)
    operands.push_back(builder.add_input(type, "x" + std::to_string(operands.size())));
  const Slot first = builder.append_exactly(*operation.primitive, operation.attributes, operands,
                                            operation.at, operation.scope);
  std::vector<Slot> outputs;
  for (std::size_t r = 0; r < operation.results.size(); ++r)
    outputs.push_back(first + static_cast<Slot>(r));
  const Program one_step = std::move(builder).finish(std::move(outputs), {});
  Linearization lin = linearize(one_step, std::vector<bool>(x.size(), true));
  const Tensors all = evaluate(lin.primal, x);
  Tensors residuals(all.begin() + static_cast<std::ptrdiff_t>(operation.results.size()), all.end());
  return {std::move(lin), std::move(residuals)};
}

}  // namespace hom::categories
