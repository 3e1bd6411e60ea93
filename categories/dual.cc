// categories/dual.cc -- transposes of primitives, written out where they are short
#include <hom/categories/dual.h>

#include <algorithm>

#include <hom/categories/transpose.h>
#include <hom/core/builder.h>

namespace hom::categories {
namespace {

/// x[axes] = result: the sum over the others undoes a broadcast that repeats no axis of extent 1.
std::optional<Operation> dual_broadcast(const Operation& op) {
  const Shape& whole = op.attributes.shape("shape");
  const Shape& axes = op.attributes.shape("axes");
  Shape repeated;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(whole.size()); ++axis) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    if (found == axes.end()) {
      repeated.push_back(axis);
    } else if (op.types[0].shape[static_cast<std::size_t>(found - axes.begin())] !=
               whole[static_cast<std::size_t>(axis)]) {
      return std::nullopt;
    }
  }
  return operation("reduce_sum", {{"axes", {repeated}}}, op.results);
}

Operation dual_reduce_sum(const Operation& op) {
  const Shape& reduced = op.attributes.shape("axes");
  Shape kept;
  for (std::int64_t axis = 0; axis < op.types[0].rank(); ++axis) {
    if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) kept.push_back(axis);
  }
  return operation("broadcast_in_dim", {{"shape", {op.types[0].shape}}, {"axes", {kept}}},
                   op.results);
}

Operation dual_transpose(const Operation& op) {
  const Shape& permutation = op.attributes.shape("permutation");
  Shape inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return operation("transpose", {{"permutation", {inverse}}}, op.results);
}

/// y = A·x for a matrix A and a vector or matrix x: ȳ ↦ Aᵀ·ȳ.
std::optional<Operation> dual_of_matrix_times(const Operation& op) {
  const bool matmul = op.attributes.shape("lhs_contract") == Shape{1} &&
                      op.attributes.shape("rhs_contract") == Shape{0} &&
                      op.attributes.shape("lhs_batch").empty() && op.types[0].rank() == 2;
  if (!matmul || op.varies(0)) return std::nullopt;
  return operation("dot_general",
                   {{"lhs_contract", {Shape{0}}},
                    {"rhs_contract", {Shape{0}}},
                    {"lhs_batch", {Shape{}}},
                    {"rhs_batch", {Shape{}}}},
                   {op.types[0], op.results[0]}, {op.known[0], Tensor()});
}

/// A slice without gaps: zeros around.
std::optional<Operation> dual_slice(const Operation& op) {
  const Shape& start = op.attributes.shape("start");
  const Shape& size = op.attributes.shape("size");
  const Shape& step = op.attributes.shape("step");
  if (std::any_of(step.begin(), step.end(), [](std::int64_t s) { return s != 1; }))
    return std::nullopt;
  Shape high;
  for (std::size_t i = 0; i < size.size(); ++i) {
    high.push_back(op.types[0].shape[i] - size[i] - start[i]);
    if (start[i] < 0 || high[i] < 0) return std::nullopt;
  }
  const TensorType type = op.results[0];
  return operation("pad",
                   {{"low", {start}}, {"high", {high}}, {"interior", {Shape(size.size(), 0)}}},
                   {type, type.dtype[{}]}, {Tensor(), tensor(0.0, type.dtype)});
}

}  // namespace

std::optional<Operation> dual_operation(const Operation& op) {
  const LocationScope line(op.at);
  if (op.is("neg")) return op;
  if (op.is("scale") || op.is("div")) return op;
  if (op.is("reduce_sum")) return dual_reduce_sum(op);
  if (op.is("broadcast_in_dim")) return dual_broadcast(op);
  if (op.is("reshape")) return operation("reshape", {{"shape", {op.types[0].shape}}}, op.results);
  if (op.is("transpose")) return dual_transpose(op);
  if (op.is("convert")) return operation("convert", {{"dtype", {op.types[0].dtype}}}, op.results);
  if (op.is("slice")) return dual_slice(op);
  if (op.is("cumsum")) {
    return operation("cumsum",
                     {{"axis", {op.attributes.integer("axis")}},
                      {"reverse", {!op.attributes.boolean("reverse")}}},
                     op.results);
  }
  if (op.is("dot_general")) return dual_of_matrix_times(op);
  return std::nullopt;
}

Program dual_program(const Operation& op) {
  Builder builder;
  std::vector<Slot> operands;
  std::vector<bool> linear;
  // Inputs first, then the tensors that are known.
  for (std::size_t i = 0; i < op.types.size(); ++i) {
    operands.push_back(op.varies(i) ? builder.add_input(op.types[i], "x" + std::to_string(i)) : 0);
    if (op.varies(i)) linear.push_back(true);
  }
  for (std::size_t i = 0; i < op.types.size(); ++i) {
    if (op.varies(i)) continue;
    // A zero as a literal, so that the rule sees that the operation is linear beside it.
    const TensorType& type = op.types[i];
    const Attributes zero{{"value", {0.0}}, {"dtype", {type.dtype}}, {"shape", {type.shape}}};
    operands[i] = type.dtype.is_float() && all_zero(op.known[i])
                      ? builder.append(standard_primitives().find("constant"), zero, {}, op.at)
                      : builder.capture(op.known[i], op.at);
  }
  const Slot first = builder.append(*op.primitive, op.attributes, operands, op.at, op.scope);
  std::vector<Slot> outputs;
  for (std::size_t r = 0; r < op.results.size(); ++r)
    outputs.push_back(first + static_cast<Slot>(r));
  return transpose(std::move(builder).finish(std::move(outputs), {}), linear);
}

}  // namespace hom::categories
