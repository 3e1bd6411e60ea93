// backends/cpu/dense_factors.h -- triangular systems, Cholesky and LU of one matrix
//
// Blocks of columns are updated by matrix_product.h, whose sums have one order on every processor,
// and so have these: a column of a solution does not depend on the columns beside it. f32 and f64.
#pragma once

#include <cstdint>

#include <hom/backends/cpu/matrix_product.h>

namespace hom::cpu {

/// b = a⁻¹b in place, for a triangle of a (n×n, any strides) and b (n×m, row-major without gaps).
/// `unit`: the diagonal is taken to be 1. A diagonal that is 0 gives infinities and NaN.
template <class T>
void solve_triangular(const MatrixView<T>& a, bool lower, bool unit, T* b, std::int64_t m);

/// The lower triangle of a (n×n, row-major) becomes L with a = L·Lᵀ; what stands above
/// is undefined. False, with L undefined, where a is not positive definite.
template <class T>
bool factor_cholesky(T* a, std::int64_t n);

/// a (m×n, row-major) becomes L below its diagonal and U on and above it, by partial pivoting: row
/// i of L·U is row permutation[i] of a. The first of the largest is the pivot, and NaN is larger
/// than any number. Returns the sign of the permutation.
template <class T>
int factor_lu(T* a, std::int64_t m, std::int64_t n, std::int64_t* permutation);

}  // namespace hom::cpu
