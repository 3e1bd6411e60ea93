// core/operations/broadcasting.h -- promotion and broadcasting of operands, for the implementation
// of operations
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include <hom/core/attribute.h>
#include <hom/core/tensor.h>

namespace hom {

/// The dtype in which operands meet.
Dtype common_dtype(std::span<const Operand* const> operands);
/// NumPy's broadcasting of shapes; the error names the operation and every type.
Shape broadcast_shapes(const std::string& operation, std::span<const TensorType> types,
                       const Location& at);
inline Shape broadcast_shapes(const std::string& operation, std::initializer_list<TensorType> types,
                              const Location& at) {
  return broadcast_shapes(operation, std::span<const TensorType>(types.begin(), types.size()), at);
}
/// Operands as tensors of one dtype and one shape.
void harmonise(const std::string& operation, std::span<const Operand* const> operands,
               std::span<Tensor> out, const Location& at);

template <std::size_t N>
std::array<Tensor, N> harmonise(const std::string& operation,
                                const std::array<const Operand*, N>& operands, const Location& at) {
  std::array<Tensor, N> tensors;
  harmonise(operation, operands, tensors, at);
  return tensors;
}

/// A uniform tensor: a `constant` step where `recorded`, else a concrete one. The value is rounded
/// to the dtype.
Tensor literal(const Attribute& value, const TensorType& type, bool recorded, const Location& at);
/// `value` as an element of `dtype` would hold it: a double, an integer, or a bool.
Attribute rounded(const Attribute& value, Dtype dtype);

/// Axis counted from the end where negative; throws where it is outside −rank … rank − 1.
std::int64_t normal_axis(const std::string& operation, std::int64_t axis, std::int64_t rank,
                         const Location& at);
/// The same for each, sorted, without repetition.
Shape normal_axes(const std::string& operation, const Shape& axes, std::int64_t rank,
                  const Location& at);

}  // namespace hom
