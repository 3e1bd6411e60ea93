// core/primitives/rules.h -- what the declarations of primitives have in common
#pragma once

#include <string>
#include <vector>

#include <hom/core/axes.h>
#include <hom/core/builder.h>
#include <hom/core/capture.h>
#include <hom/core/primitive.h>

namespace hom {

void add_leaf_primitives(PrimitiveTable& table);
void add_unary_primitives(PrimitiveTable& table);
void add_binary_primitives(PrimitiveTable& table);
void add_shape_primitives(PrimitiveTable& table);
void add_indexing_primitives(PrimitiveTable& table);
void add_reduction_primitives(PrimitiveTable& table);
void add_cumulative_primitives(PrimitiveTable& table);
void add_contraction_primitives(PrimitiveTable& table);
void add_control_primitives(PrimitiveTable& table);
void add_loop_primitives(PrimitiveTable& table);
void add_custom_primitives(PrimitiveTable& table);

/// Throws unless every operand has a dtype of the primitive's set, and the same one.
void require_dtypes(const Typing& typing);
/// The same, and one shape; returns the type.
TensorType elementwise_type(const Typing& typing);
/// `lhs f32[2] and f32[3]`
std::string list_types(std::span<const TensorType> types);

/// A typing rule whose only result is the elementwise type of the operands.
std::vector<TensorType> same_type(const Typing& typing);

/// The tangent, or zeros of the operand's type.
Tensor tangent_or_zeros(const Linearizing& at, std::size_t operand);

/// The derivative of a primitive that is linear in its first `data` operands jointly: itself on
/// tangents.
DerivativeRule linear_in(std::size_t data);

/// The slot of a uniform tensor.
Slot append_literal(Builder& builder, const Attribute& value, const TensorType& type,
                    const Location& at, const std::string& scope);

/// The zeros of the result's type, for a sum of zeros.
std::optional<Slot> zeros_of_zeros(const Simplifying& at);

/// The operand of the step that defines the slot, where that step is of `primitive`.
std::optional<Slot> operand_of(const Builder& builder, Slot slot, const std::string& primitive);

/// Within a transpose rule: whether an operand that is not linear is zero, and therefore linear
/// after all.
bool is_zero(const Tensor& x);

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
/// The same step on other operands, with another mask.
Batching with_operands(const Batching& at, std::span<const Tensor> x, const Tensor& alive);
/// A rule for a primitive that raises for some values of one operand but never for 0, where
/// `may_raise` holds: dead lanes get 0; so do all where the operand is the same for all lanes and
/// none is alive. `rule` is asked where an operand is batched.
BatchRule sparing(std::size_t operand, bool (*may_raise)(const Batching&), BatchRule rule);

Shape inverse(const Shape& permutation);

/// Whether start + i·step stays within 0 … extent − 1 for every i below size; false for step 0.
bool is_inside(std::int64_t start, std::int64_t size, std::int64_t step, std::int64_t extent);
/// The sum of extents; throws where it does not fit 64 bits.
std::int64_t sum_of_extents(std::initializer_list<std::int64_t> extents);

}  // namespace hom
