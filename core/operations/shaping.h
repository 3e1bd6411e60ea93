// core/operations/shaping.h -- new tensors, and views and rearrangements of tensors
//
// Axes count from the end where negative. Views share storage: transpose, slice, broadcast, and
// reshape where possible.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include <hom/core/tensor.h>

namespace hom {

/// Every element `value`; `dtype` is that of the number unless given.
Tensor full(const Shape& shape, const Operand& value, const Location& at = Location::current());
Tensor full(const Shape& shape, const Operand& value, Dtype dtype,
            const Location& at = Location::current());
Tensor zeros(const Shape& shape, Dtype dtype = f64, const Location& at = Location::current());
Tensor ones(const Shape& shape, Dtype dtype = f64, const Location& at = Location::current());
/// A template, so that `zeros({})` means the shape.
template <std::same_as<TensorType> Type>
Tensor zeros(const Type& type, const Location& at = Location::current()) {
  return zeros(type.shape, type.dtype, at);
}
Tensor zeros_like(const Operand& x);
Tensor ones_like(const Operand& x);
/// Element i along `axis` is i.
Tensor iota(const TensorType& type, std::int64_t axis = 0,
            const Location& at = Location::current());
/// 0, 1, …, n − 1 as i64, or another dtype.
Tensor arange(std::int64_t n, Dtype dtype = i64, const Location& at = Location::current());
/// `count` values from `start` to `stop`, both included.
Tensor linspace(double start, double stop, std::int64_t count, Dtype dtype = f64,
                const Location& at = Location::current());
/// The n×n identity matrix.
Tensor eye(std::int64_t n, Dtype dtype = f64, const Location& at = Location::current());
/// 1 where `labels` equals the position along a new last axis of `classes`, else 0. Labels are
/// integers.
Tensor one_hot(const Operand& labels, std::int64_t classes, Dtype dtype = f32);

/// Axis `axes[i]` of the result is axis i of x (whose extent is 1 or the result's); other axes
/// repeat it.
Tensor broadcast_in_dim(const Operand& x, const Shape& shape, const Shape& axes);
/// NumPy's: x repeated along new leading axes and axes of extent 1.
Tensor broadcast_to(const Operand& x, const Shape& shape);
/// One extent may be −1. Throws where the element counts differ.
Tensor reshape(const Operand& x, const Shape& shape);
/// Axis i of the result is axis `permutation[i]` of x; without one, axes reverse.
Tensor transpose(const Operand& x);
Tensor transpose(const Operand& x, const Shape& permutation);
Tensor swap_axes(const Operand& x, std::int64_t a, std::int64_t b);
Tensor expand_dims(const Operand& x, std::int64_t axis);
/// Drops axes of extent 1 (all of them where none is named).
Tensor squeeze(const Operand& x, const Shape& axes = {});
/// Element i along each axis is start + i·step; steps may be negative. `size` counts elements.
Tensor slice(const Operand& x, const Shape& start, const Shape& size, const Shape& step);
/// Elements reversed along the axes.
Tensor flip(const Operand& x, const Shape& axes);
/// `value` before (low), after (high) and between (interior) the elements of each axis.
Tensor pad(const Operand& x, const Operand& value, const Shape& low, const Shape& high,
           const Shape& interior = {});
/// Joined along an axis; dtypes promote, other extents must agree.
Tensor concat(std::span<const Tensor> parts, std::int64_t axis = 0,
              const Location& at = Location::current());
Tensor concat(std::initializer_list<Operand> parts, std::int64_t axis = 0,
              const Location& at = Location::current());
/// Joined along a new axis; the parts broadcast to one shape.
Tensor stack(std::span<const Tensor> parts, std::int64_t axis = 0,
             const Location& at = Location::current());
Tensor stack(std::initializer_list<Operand> parts, std::int64_t axis = 0,
             const Location& at = Location::current());
/// `count` equal parts along an axis; throws where they would not be equal.
std::vector<Tensor> split(const Operand& x, std::int64_t count, std::int64_t axis = 0);
/// Elements shifted along an axis by `shift`, those that leave at one end returning at the other.
Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis);
/// The lower (upper) triangle of the last two axes, with the diagonal `k`; zero elsewhere.
Tensor tril(const Operand& x, std::int64_t k = 0);
Tensor triu(const Operand& x, std::int64_t k = 0);
/// The main diagonal of the last two axes.
Tensor diagonal(const Operand& x);

}  // namespace hom
