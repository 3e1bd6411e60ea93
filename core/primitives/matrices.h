// core/primitives/matrices.h -- what declarations of primitives on matrices have in common
//
// They work on the last two axes; any axes in front are a batch. f32 and f64.
#pragma once

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/linear_algebra.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom::matrices {

inline constexpr DtypeSet dtypes{f32, f64};

/// Throws unless the operand is a matrix, or a batch of them; square ones, if asked.
void require_matrices(const Typing& typing, std::size_t operand = 0);
void require_square(const Typing& typing, std::size_t operand = 0);
/// Throws unless operand `right` has the batch axes of operand 0 and as many rows as that has.
void require_right_side(const Typing& typing, std::size_t right);
/// The axes in front of the last two.
Shape batch_of(const Shape& shape);
/// […, rows, columns] for the batch axes of the type.
TensorType matrices_of(const TensorType& type, std::int64_t rows, std::int64_t columns);
TensorType vectors_of(const TensorType& type, std::int64_t size);
inline std::int64_t rows_of(const Shape& shape) { return shape[shape.size() - 2]; }
inline std::int64_t columns_of(const Shape& shape) { return shape.back(); }

/// The last two axes change places.
inline Tensor transposed(const Tensor& x) { return swap_axes(x, -2, -1); }
/// (x + xᵀ)/2, without overflow.
inline Tensor symmetrised(const Tensor& x) {
  const Tensor half = 0.5 * x;
  return half + transposed(half);
}
/// x·u⁻¹ for an upper triangular u.
Tensor divided_by_upper(const Tensor& x, const Tensor& u);
/// How far right of the diagonal the places of an n×n matrix are, i64 [n, n], and which are on it.
struct Diagonals {
  Tensor offset;
  Tensor on;
};
Diagonals diagonals_of(std::int64_t n);
/// 1/x, and 0 where |x| is at most `least`, which broadcasts.
Tensor reciprocal_above(const Tensor& least, const Tensor& x);
/// What rounding errors of values along the last axis may be, for matrices with `extent` rows or
/// columns: […, 1].
Tensor roundings_of(const Tensor& values, std::int64_t extent);

/// The result of a step whose right side, the last operand, alone has lanes: the lanes as further
/// columns, which the kernel treats one by one, so that one factorization serves all.
Tensor solved_for_lanes(const Batching& at);

}  // namespace hom::matrices
