// core/operations/broadcasting.h -- promotion and broadcasting of operands, and what else the
// implementations of operations share
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include <hom/core/attribute.h>
#include <hom/core/axes.h>
#include <hom/core/primitive.h>
#include <hom/core/tensor.h>

namespace hom {

/// The standard primitive of this name.
inline const Primitive& primitive(const char* name) { return standard_primitives().find(name); }

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

/// `value` as a tensor of `dtype`, which is what it goes into: a C++ number must fit, a tensor must
/// promote to it. The error says that `role`, as in "an update", does not.
Tensor fitted(const std::string& operation, const std::string& role, const Operand& value,
              Dtype dtype);
/// Whether `dtype` holds the number: an integer dtype takes whole numbers of its range, bool takes
/// 0 and 1, floats round.
bool fits(const Attribute& number, Dtype dtype);
/// Throws unless it does.
void require_fits(const Attribute& number, Dtype dtype, const Location& at);
/// Throws unless x is of a float dtype.
void require_float(const char* operation, const Operand& x);

/// 16-bit floats as f32: means and squares of them are made in 32 bits, where they neither overflow
/// nor lose the deviations, and are rounded once at the end. Other dtypes stay.
Tensor widened(const Operand& x);

}  // namespace hom
