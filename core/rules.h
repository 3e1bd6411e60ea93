// core/rules.h -- parts of rules: what declarations of primitives are made of
//
//     standard_primitives().add({.name = "squareplus",
//                                .dtypes = floats,
//                                .type = rules::same_type,
//                                .derivative = …,
//                                .batch = rules::batch_elementwise});
//
// Not part of <hom/hom.h>: include it where a primitive is declared (docs/extending.md).
#pragma once

#include <string>
#include <vector>

#include <hom/core/builder.h>
#include <hom/core/capture.h>
#include <hom/core/primitive.h>

namespace hom::rules {

// ---- typing ----

/// Throws unless every operand has a dtype of the primitive's set, and the same one.
void require_dtypes(const Typing& typing);
/// The same, and one shape; returns the type.
TensorType elementwise_type(const Typing& typing);
/// `lhs f32[2] and f32[3]`
std::string list_types(std::span<const TensorType> types);

/// A typing rule whose only result is the elementwise type of the operands.
std::vector<TensorType> same_type(const Typing& typing);

// ---- derivative and transpose ----

/// The tangent, or zeros of the operand's type.
Tensor tangent_or_zeros(const Linearizing& at, std::size_t operand);

/// The derivative of a primitive that is linear in its first `data` operands jointly: itself on
/// tangents.
DerivativeRule linear_in(std::size_t data);

/// Within a transpose rule: whether an operand that is not linear is zero, and therefore linear
/// after all.
bool is_zero(const Tensor& x);

// ---- simplification ----

/// The zeros of the result's type, for a sum of zeros.
std::optional<Slot> zeros_of_zeros(const Simplifying& at);

/// The operand of the step that defines the slot, where that step is of `primitive`.
std::optional<Slot> operand_of(const Builder& builder, Slot slot, const std::string& primitive);

// ---- batch ----

/// The results of the primitive of a batch rule on other operands, and with other attributes.
std::vector<Tensor> applied(const Batching& at, std::span<const Tensor> operands);
std::vector<Tensor> applied(const Batching& at, const Attributes& attributes,
                            std::span<const Tensor> operands);
/// The attributes of the step with one of them replaced.
Attributes with(const Batching& at, std::string_view name, Attribute value);
/// All operands with the lanes in front, for rules that need them all.
std::vector<Tensor> all_lifted(const Batching& at);
/// The batch rule of functions of one element: themselves, on operands that all have the lanes.
std::vector<Tensor> batch_elementwise(const Batching& at);
/// The batch rule of functions along one axis, an attribute.
std::vector<Tensor> batch_along_axis(const Batching& at);
/// Where one lane has axis i, the batch has axis i + 1.
Shape past_lanes(const Shape& axes);
/// What lists for each axis hold for the batch: `first` for the lanes, then the list.
Shape with_lanes(std::int64_t first, const Shape& list);
/// One element for each lane, [n], as [n, 1, …]: it meets tensors that have `rank` axes in a lane.
Tensor lane_column(const Tensor& x, std::int64_t rank);
/// A rule for a primitive that raises for some values of one operand but never for 0, where
/// `may_raise` holds: dead lanes get 0; so do all where the operand is the same for all lanes and
/// none is alive. `rule` is asked where an operand is batched.
BatchRule sparing(std::size_t operand, bool (*may_raise)(const Batching&), BatchRule rule);

}  // namespace hom::rules
