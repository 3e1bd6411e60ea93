// core/primitives/rules.h -- what the declarations of Hom's own primitives have in common
// beyond core/rules.h
#pragma once

#include <string>
#include <vector>

#include <hom/core/axes.h>
#include <hom/core/rules.h>

namespace hom {

using namespace rules;

void add_leaf_primitives(PrimitiveTable& table);
void add_unary_primitives(PrimitiveTable& table);
void add_special_primitives(PrimitiveTable& table);
void add_binary_primitives(PrimitiveTable& table);
void add_shape_primitives(PrimitiveTable& table);
void add_indexing_primitives(PrimitiveTable& table);
void add_window_primitives(PrimitiveTable& table);
void add_reduction_primitives(PrimitiveTable& table);
void add_reduce_window_primitives(PrimitiveTable& table);
void add_cumulative_primitives(PrimitiveTable& table);
void add_sorting_primitives(PrimitiveTable& table);
void add_contraction_primitives(PrimitiveTable& table);
void add_convolution_primitives(PrimitiveTable& table);
void add_factorization_primitives(PrimitiveTable& table);
void add_spectrum_primitives(PrimitiveTable& table);
void add_linear_system_primitives(PrimitiveTable& table);
void add_determinant_primitives(PrimitiveTable& table);
void add_fft_primitives(PrimitiveTable& table);
void add_control_primitives(PrimitiveTable& table);
void add_scan_primitive(PrimitiveTable& table);
void add_while_primitive(PrimitiveTable& table);
void add_custom_primitives(PrimitiveTable& table);

/// The slot of a uniform tensor.
Slot append_literal(Builder& builder, const Attribute& value, const TensorType& type,
                    const Location& at, const std::string& scope);

/// The same step on other operands, with another mask.
Batching with_operands(const Batching& at, std::span<const Tensor> x, const Tensor& alive);
Shape inverse(const Shape& permutation);

/// Whether start + i·step stays within 0 … extent − 1 for every i below size; false for step 0.
bool is_inside(std::int64_t start, std::int64_t size, std::int64_t step, std::int64_t extent);
/// The sum of extents; throws where it does not fit 64 bits.
std::int64_t sum_of_extents(std::initializer_list<std::int64_t> extents);

}  // namespace hom
