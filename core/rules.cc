// core/rules.cc -- parts of rules
#include <hom/core/rules.h>

#include <algorithm>

#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom::rules {

std::string list_types(std::span<const TensorType> types) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i) text += i + 1 == types.size() ? " and " : ", ";
    text += to_string(types[i]);
  }
  return text;
}

void require_dtypes(const Typing& typing) {
  for (const TensorType& operand : typing.operands) {
    typing.require(typing.primitive.dtypes.contains(operand.dtype), [&] {
      return Complaint{typing.primitive.name + ": takes " + to_string(typing.primitive.dtypes) +
                           ", got " + list_types(typing.operands),
                       typing.primitive.dtypes == floats ? "convert with astype(f32) or astype(f64)"
                                                         : "convert with astype"};
    });
    typing.require(operand.dtype == typing.operands[0].dtype, [&] {
      return Complaint{
          typing.primitive.name + ": operands differ in dtype: " + list_types(typing.operands),
          "convert with astype"};
    });
  }
}

TensorType elementwise_type(const Typing& typing) {
  require_dtypes(typing);
  for (const TensorType& operand : typing.operands) {
    typing.require(operand.shape == typing.operands[0].shape, [&] {
      return Complaint{typing.primitive.name +
                       ": operands differ in shape: " + list_types(typing.operands)};
    });
  }
  return typing.operands[0];
}

std::vector<TensorType> same_type(const Typing& typing) { return {elementwise_type(typing)}; }

Tensor tangent_or_zeros(const Linearizing& at, std::size_t operand) {
  return at.dx[operand].is_empty() ? zeros_like(at.x[operand]) : at.dx[operand];
}

DerivativeRule linear_in(std::size_t data) {
  return [data](const Linearizing& at) -> std::vector<Tensor> {
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < at.x.size(); ++i)
      operands.push_back(i < data ? tangent_or_zeros(at, i) : at.x[i]);
    const TensorList tangents = apply(at.primitive, at.attributes, operands, Location::current());
    return {tangents.begin(), tangents.end()};
  };
}

bool is_zero(const Tensor& x) {
  Capture* capture = Capture::of(x);
  return capture && capture->builder().is_zero(x.slot());
}

std::optional<Slot> zeros_of_zeros(const Simplifying& at) {
  if (!at.builder.is_literal(at.operands[0], 0)) return std::nullopt;
  return at.literal({0.0});
}

std::optional<Slot> operand_of(const Builder& builder, Slot slot, const std::string& primitive) {
  const auto step = builder.definition(slot);
  if (step && step->primitive.name == primitive) return step->operands[0];
  return std::nullopt;
}

std::vector<Tensor> applied(const Batching& at, const Attributes& attributes,
                            std::span<const Tensor> operands) {
  const TensorList results = apply(at.primitive, attributes, operands, at.at);
  return {results.begin(), results.end()};
}

std::vector<Tensor> applied(const Batching& at, std::span<const Tensor> operands) {
  return applied(at, at.attributes, operands);
}

Attributes with(const Batching& at, std::string_view name, Attribute value) {
  Attributes attributes = at.attributes;
  attributes.set(name, std::move(value));
  return attributes;
}

std::vector<Tensor> all_lifted(const Batching& at) {
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < at.x.size(); ++i) operands.push_back(at.lifted(i));
  return operands;
}

std::vector<Tensor> batch_elementwise(const Batching& at) { return applied(at, all_lifted(at)); }

std::vector<Tensor> batch_along_axis(const Batching& at) {
  return applied(at, with(at, "axis", {at.attributes.integer("axis") + 1}), all_lifted(at));
}

Shape past_lanes(const Shape& axes) {
  Shape moved;
  for (std::int64_t axis : axes) moved.push_back(axis + 1);
  return moved;
}

Shape with_lanes(std::int64_t first, const Shape& list) {
  Shape all{first};
  all.insert(all.end(), list.begin(), list.end());
  return all;
}

Tensor lane_column(const Tensor& x, std::int64_t rank) {
  Shape shape(static_cast<std::size_t>(rank) + 1, 1);
  shape[0] = x.shape()[0];
  return reshape(x, shape);
}

BatchRule sparing(std::size_t operand, bool (*may_raise)(const Batching&), BatchRule rule) {
  return [operand, may_raise, rule = std::move(rule)](const Batching& at) {
    std::vector<Tensor> x(at.x.begin(), at.x.end());
    if (!at.alive.is_empty() && may_raise(at)) {
      const Tensor alive =
          at.batched[operand] ? lane_column(at.alive, at.types[operand].rank()) : any_of(at.alive);
      x[operand] = where(alive, x[operand], 0);
    }
    const bool any = std::find(at.batched.begin(), at.batched.end(), true) != at.batched.end();
    return any ? rule(with_operands(at, x, at.alive)) : applied(at, x);
  };
}

}  // namespace hom::rules
