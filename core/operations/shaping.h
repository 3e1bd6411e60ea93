// core/operations/shaping.h -- new tensors, and views and rearrangements of tensors
//
// Axes count from the end where negative. Views share storage: transpose, slice (of more than 16
// bytes), broadcast, and reshape where possible. Rearrangements take every dtype and keep it; an
// axis outside the rank, or named twice, is an `Error`.
//
// The dtype where none is asked for: zeros, ones, linspace and eye make f64, as `0.0` in C++ is a
// double; full has the dtype of its number, and arange counts in i64, or in f64 by floats. Only
// uniform (operations/random.h) and one_hot make f32, because they are what models are fed with.
// `_like` functions take shape and dtype from their model.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include <hom/core/tensor.h>

namespace hom {

/// Every element `value`, a number or a tensor that broadcasts to `shape`; `dtype` is that of the
/// number unless given. Throws for a negative extent, and for a C++ number that the dtype does not
/// hold (0.5 or 300 as u8); a tensor converts.
Tensor full(const Shape& shape, const Operand& value, const Location& at = Location::current());
Tensor full(const Shape& shape, const Operand& value, Dtype dtype,
            const Location& at = Location::current());
/// Every element 0 (1). Throws for a negative extent.
Tensor zeros(const Shape& shape, Dtype dtype = f64, const Location& at = Location::current());
Tensor ones(const Shape& shape, Dtype dtype = f64, const Location& at = Location::current());
/// A template, so that `zeros({})` means the shape.
template <std::same_as<TensorType> Type>
Tensor zeros(const Type& type, const Location& at = Location::current()) {
  return zeros(type.shape, type.dtype, at);
}
/// 0 (1) in the shape and dtype of x.
Tensor zeros_like(const Operand& x);
Tensor ones_like(const Operand& x);
/// `value` in the shape and dtype of x. Throws where x's dtype does not hold the number, or where
/// a tensor `value` is of a wider dtype; its shape broadcasts to x's.
Tensor full_like(const Operand& x, const Operand& value);
/// Element i along `axis` is i, in a dtype of numbers.
Tensor iota(const TensorType& type, std::int64_t axis = 0,
            const Location& at = Location::current());
/// 0, 1, …, n − 1 as i64, or another dtype. A float dtype holds them rounded, an integer one that
/// is too narrow wraps.
Tensor arange(std::int64_t n, Dtype dtype = i64, const Location& at = Location::current());
namespace detail {
Tensor arange(std::int64_t start, std::int64_t stop, std::int64_t step, Dtype dtype,
              const Location& at);
Tensor arange(double start, double stop, double step, Dtype dtype, const Location& at);
}  // namespace detail
/// start, start + step, … before stop; a negative step counts down. Of integers i64, where any of
/// the three is a float f64, or another dtype. Throws for step 0, for floats into an integer dtype,
/// and where the dtype does not hold the integers. Of floats, element i is start + i·step rounded,
/// and the count is ⌈(stop − start)/step⌉; `linspace` fixes the count instead.
template <Arithmetic Start, Arithmetic Stop, Arithmetic Step = int>
Tensor arange(Start start, Stop stop, Step step = 1,
              Dtype dtype = std::integral<Start> && std::integral<Stop> && std::integral<Step>
                                ? i64
                                : f64,
              const Location& at = Location::current()) {
  using Number =
      std::conditional_t<std::integral<Start> && std::integral<Stop> && std::integral<Step>,
                         std::int64_t, double>;
  return detail::arange(static_cast<Number>(start), static_cast<Number>(stop),
                        static_cast<Number>(step), dtype, at);
}
/// `count` values from `start` to `stop`, both included and exact. Throws for a dtype that is
/// not a float.
Tensor linspace(double start, double stop, std::int64_t count, Dtype dtype = f64,
                const Location& at = Location::current());
/// The n×n identity matrix.
Tensor eye(std::int64_t n, Dtype dtype = f64, const Location& at = Location::current());
/// 1 where `labels` equals the position along a new last axis of `classes`, else 0. Labels are
/// integers [shape], the result is [shape, classes]; a label outside 0 … classes − 1 gives zeros.
Tensor one_hot(const Operand& labels, std::int64_t classes, Dtype dtype = f32);

/// Axis `axes[i]` of the result is axis i of x (whose extent is 1 or the result's); other axes
/// repeat it. Throws where axes do not ascend, or extents do not fit.
Tensor broadcast_in_dim(const Operand& x, const Shape& shape, const Shape& axes);
/// NumPy's: x repeated along new leading axes and axes of extent 1. Throws where shapes do not
/// fit.
Tensor broadcast_to(const Operand& x, const Shape& shape);
/// The same elements, in row-major order, in another shape. One extent may be −1, to be computed.
/// Throws where the element counts differ.
Tensor reshape(const Operand& x, const Shape& shape);
/// All elements in row-major order, as a vector.
Tensor ravel(const Operand& x);
/// Axis i of the result is axis `permutation[i]` of x; without one, axes reverse. Throws
/// for what is no permutation of the axes.
Tensor transpose(const Operand& x);
Tensor transpose(const Operand& x, const Shape& permutation);
/// Axes a and b change places.
Tensor swap_axes(const Operand& x, std::int64_t a, std::int64_t b);
/// Axis `from` becomes axis `to`; the others keep their order.
Tensor move_axis(const Operand& x, std::int64_t from, std::int64_t to);
/// A new axis of extent 1 becomes axis `axis` of the result: [2, 3] with 1 is [2, 1, 3].
Tensor expand_dims(const Operand& x, std::int64_t axis);
/// Drops axes of extent 1 (all of them where none is named). Throws for a longer one.
Tensor squeeze(const Operand& x, const Shape& axes = {});
/// Element i along each axis is start + i·step; steps may be negative. `size` counts elements.
/// Lists have one entry for each axis. Throws for a place outside x, and for a step of 0.
Tensor slice(const Operand& x, const Shape& start, const Shape& size, const Shape& step);
/// Elements reversed along the axes.
Tensor flip(const Operand& x, const Shape& axes);
/// `value` before (low), after (high) and between (interior) the elements of each axis;
/// lists have one entry for each, 0 or more. `value` is a scalar and adopts x's dtype: a C++ number
/// has to fit it, a tensor of a wider dtype is an `Error`.
Tensor pad(const Operand& x, const Operand& value, const Shape& low, const Shape& high,
           const Shape& interior = {});
/// Joined along an axis; dtypes promote, other extents must agree. Throws for no parts.
Tensor concat(std::span<const Tensor> parts, std::int64_t axis = 0,
              const Location& at = Location::current());
Tensor concat(std::initializer_list<Operand> parts, std::int64_t axis = 0,
              const Location& at = Location::current());
/// Joined along a new axis; dtypes promote, and the parts broadcast to one shape. Throws for no
/// parts.
Tensor stack(std::span<const Tensor> parts, std::int64_t axis = 0,
             const Location& at = Location::current());
Tensor stack(std::initializer_list<Operand> parts, std::int64_t axis = 0,
             const Location& at = Location::current());
/// x laid `counts[i]` times along axis i: [1, 2] twice is [1, 2, 1, 2]. The shorter of counts and
/// x's shape gets leading ones. Throws for a negative count.
Tensor tile(const Operand& x, const Shape& counts);
/// Every element `count` times along an axis: [1, 2] twice is [1, 1, 2, 2]. Throws for a negative
/// count.
Tensor repeat(const Operand& x, std::int64_t count, std::int64_t axis);
/// `count` equal parts along an axis; throws where they would not be equal.
std::vector<Tensor> split(const Operand& x, std::int64_t count, std::int64_t axis = 0);
/// Elements shifted along an axis by `shift`, those that leave at one end returning at the other.
Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis);
/// The lower (upper) triangle of the last two axes, with the diagonal `k`; zero elsewhere.
Tensor tril(const Operand& x, std::int64_t k = 0);
Tensor triu(const Operand& x, std::int64_t k = 0);
/// The main diagonal of the last two axes: […, m, n] → […, min(m, n)]. Throws for a rank below 2,
/// as do tril and triu.
Tensor diagonal(const Operand& x);

}  // namespace hom
