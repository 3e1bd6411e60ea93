// stencil.cc -- declaration with attributes and a transpose, and kernel
#include "stencil.h"

#include <hom/core/axes.h>
#include <hom/core/rules.h>

namespace extension {

using namespace hom;

namespace {

std::vector<TensorType> stencil_type(const Typing& typing) {
  const std::int64_t axis = typing.attributes.integer("axis");
  typing.require(0 <= axis && axis < typing.operands[0].rank(), [&] {
    return Complaint{"stencil: " + to_string(typing.operands[0]) + " has no axis " +
                     std::to_string(axis)};
  });
  return rules::same_type(typing);
}

/// What xᵢ gives to yᵢ₊₁ goes back from there: left and right change places.
void transpose_stencil(const Transposing& at) {
  Attributes turned = at.attributes;
  turned.set("left", at.attributes.get("right"));
  turned.set("right", at.attributes.get("left"));
  at.add(0, apply_one(at.primitive, turned, {at.ct[0]}, at.at));
}

}  // namespace

void add_stencil(PrimitiveTable& primitives) {
  using Kind = AttributeSpec::Kind;
  primitives.add({.name = "stencil",
                  .attributes = {{"left", Kind::number},
                                 {"middle", Kind::number},
                                 {"right", Kind::number},
                                 {"axis", Kind::integer}},
                  .dtypes = {f32, f64},
                  .type = stencil_type,
                  .derivative = rules::linear_in(1),
                  .transpose = transpose_stencil,
                  .batch = rules::batch_along_axis,
                  .shapes = "s → s",
                  .formula = "stencil dx"});
}

Tensor stencil(const Operand& x, const Weights& weights, std::int64_t axis) {
  const Tensor operand = x.value();
  const std::int64_t along = normal_axis("stencil", axis, operand.rank(x.at()), x.at());
  return apply_one(standard_primitives().find("stencil"),
                   {{"left", {weights.left}},
                    {"middle", {weights.middle}},
                    {"right", {weights.right}},
                    {"axis", {along}}},
                   {operand}, x.at());
}

namespace {

template <class T>
Tensor computed(const Invocation& step, const Tensor& operand) {
  const Tensor x = row_major(operand);
  const auto y = Array::allocate(x.type());
  const auto weight = [&](const char* name) { return number<T>(step.attributes.get(name)); };
  const T left = weight("left");
  const T middle = weight("middle");
  const T right = weight("right");
  // Neighbours along the axis lie `stride` elements apart.
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  const std::int64_t extent = x.shape()[axis];
  const std::int64_t stride = x.array().strides[axis];
  const T* from = x.array().data<T>();
  T* to = y->data<T>();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t position = i / stride % extent;
    T sum = middle * from[i];
    if (position > 0) sum += left * from[i - stride];
    if (position + 1 < extent) sum += right * from[i + stride];
    to[i] = sum;
  }
  return Tensor(y);
}

TensorList stencil_kernel(const Invocation& step, TensorList x) {
  return {x[0].dtype() == f32 ? computed<float>(step, x[0]) : computed<double>(step, x[0])};
}

}  // namespace

void add_stencil(KernelTable& kernels) { kernels.add("stencil", stencil_kernel); }

}  // namespace extension
