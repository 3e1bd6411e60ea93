// core/operations/indexing.h -- reading and writing at computed positions
//
// Data is of any dtype, indices of any integer dtype; a tensor of another dtype, or a C++ number,
// as an index is an `Error`. Axes count from the end where negative, indices do not. Updates adopt
// the dtype of what they update: a C++ number has to fit it, and a tensor of a wider dtype is an
// `Error`.
#pragma once

#include <hom/core/tensor.h>

namespace hom {

/// What happens at an index outside 0 … extent − 1 (negative ones are outside): `check` raises,
/// `clip` moves it to the nearest inside, `drop` reads 0 and writes nothing. The same in values and
/// in gradients, and in every executor.
enum class Bounds { check, clip, drop };
/// How an update meets what is there, or another update of the same element (`set`: the last one
/// wins).
enum class Combine { set, add, mul, min, max };

/// x at coordinates along `axes`: `indices` is an integer tensor […, k] with k = the number of
/// axes; the result has the shape […] followed by x's other axes. Throws for axes that are not
/// different axes of x, or not k; an index outside raises when it runs.
Tensor gather(const Operand& x, const Operand& indices, const Shape& axes,
              Bounds bounds = Bounds::check);
/// x with `updates` (shaped as gather's result) combined in at `indices`; of x's type. bool
/// elements combine by `set` only. Throws for updates of another shape.
Tensor scatter(const Operand& x, const Operand& indices, const Operand& updates, const Shape& axes,
               Combine combine, Bounds bounds = Bounds::drop);
/// Whole slices of x along `axis` by an integer tensor of any shape, which replaces the axis: x [a,
/// n, b] by [i, j] along axis 1 is [a, i, j, b].
Tensor take(const Operand& x, const Operand& indices, std::int64_t axis = 0,
            Bounds bounds = Bounds::check);
/// One element for each position of `indices`, which has x's shape but for `axis`; of its shape.
/// Throws where other extents differ.
Tensor take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis,
                       Bounds bounds = Bounds::check);
/// A window of x that starts at the computed position `start`, an integer tensor [rank]; of
/// shape `size`. `clip` moves it inside, `drop` is not offered. Throws for a window larger than x.
Tensor dynamic_slice(const Operand& x, const Operand& start, const Shape& size,
                     Bounds bounds = Bounds::check);
/// x with the window at `start` set to `update`, or with `update` added to it; other ways to
/// combine, and `drop`, are errors.
Tensor dynamic_update_slice(const Operand& x, const Operand& update, const Operand& start,
                            Combine combine = Combine::set, Bounds bounds = Bounds::check);
/// x with `update` set or added at start + i·step along each axis; start and step have one entry
/// for each. Throws for a place outside x.
Tensor update_slice(const Operand& x, const Operand& update, const Shape& start, const Shape& step,
                    Combine combine = Combine::set);

/// Row i of the result combines the rows of `data` whose id is i; ids outside 0 … n − 1 are
/// dropped. Data [m, …] and ids [m] give [n, …]. Empty segments are 0 (sum), 1 (prod), −∞ (max) or
/// +∞ (min); of integers, the ends of their range. Throws for bool data, for ids of another length,
/// and for a negative n.
Tensor segment_sum(const Operand& data, const Operand& ids, std::int64_t n);
Tensor segment_prod(const Operand& data, const Operand& ids, std::int64_t n);
Tensor segment_max(const Operand& data, const Operand& ids, std::int64_t n);
Tensor segment_min(const Operand& data, const Operand& ids, std::int64_t n);

}  // namespace hom
