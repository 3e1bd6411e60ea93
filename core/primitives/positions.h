// core/primitives/positions.h -- what reads and writes at positions share
#pragma once

#include <hom/core/operations/indexing.h>
#include <hom/core/primitives/rules.h>

namespace hom {

/// What happens at a position outside, an attribute.
Bounds bounds_of(const Attributes& attributes);
/// Throws unless the attribute has one of these values.
void require_one_of(const Typing& typing, const char* attribute,
                    std::initializer_list<const char*> values);
/// Throws unless indices are integers.
void require_integer(const Typing& typing, const TensorType& indices);
/// Within a transpose rule: throws where an operand is neither linear nor zero.
void require_joint(const Transposing& at, std::size_t operand);

/// Whether a step raises at a position outside.
bool checks(const Batching& at);
/// Coordinates [n, …, k] with that of the lane in front: [n, …, 1 + k].
Tensor with_lane_coordinate(const Tensor& coordinates);

}  // namespace hom
