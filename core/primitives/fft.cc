// core/primitives/fft.cc -- the discrete Fourier transform of a pair {re, im} along an axis
//
// yₖ = Σⱼ xⱼ·e^(∓2πijk/n), without a factor in front. On the pair it is the real matrix
// (C S; −S C), whose transpose is that of the other direction.
#include <hom/core/operations/fft.h>

#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

std::vector<TensorType> fft_types(const Typing& typing) {
  const TensorType type = elementwise_type(typing);
  const std::int64_t axis = typing.attributes.integer("axis");
  typing.require(0 <= axis && axis < type.rank(), [&] {
    return Complaint{"fft: axis " + std::to_string(axis) + " of " + to_string(type)};
  });
  return {type, type};
}

void transpose_fft(const Transposing& at) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!at.linear[i] && !is_zero(at.x[i])) {
      at.not_linear("one operand does not depend on the input, so the result is only affine");
    }
  }
  std::vector<Tensor> ct;
  for (std::size_t i = 0; i < 2; ++i)
    ct.push_back(at.ct[i].is_empty() ? zeros(at.types[i], at.at) : at.ct[i]);
  Attributes turned = at.attributes;
  turned.set("inverse", {!at.attributes.boolean("inverse")});
  const TensorList back = apply(at.primitive, turned, ct, at.at);
  for (std::size_t i = 0; i < 2; ++i) {
    if (at.linear[i]) at.add(i, back[i]);
  }
}

}  // namespace

void add_fft_primitives(PrimitiveTable& table) {
  table.add({.name = "fft",
             .min_operands = 2,
             .max_operands = 2,
             .attributes = {{"axis", Kind::integer}, {"inverse", Kind::boolean}},
             .dtypes = {f32, f64},
             .type = fft_types,
             .derivative = linear_in(2),
             .transpose = transpose_fft,
             .batch = batch_along_axis,
             .shapes = "s, s → s, s",
             .formula = "fft dx"});
}

}  // namespace hom
