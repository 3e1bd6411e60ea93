// backends/cpu/orthogonal_factors.h -- QR, eigenvectors and singular vectors of one matrix, by
// Eigen
//
// Matrices are row-major without gaps. Signs are fixed, so that a result is one and not one of
// several. What is not finite, or does not converge, gives NaN throughout. f32 and f64.
#pragma once

#include <cstdint>

namespace hom::cpu {

/// a (m×n) = q·r with k = min(m, n): q (m×k) has orthonormal columns, r (k×n) is upper triangular
/// with a diagonal that is not negative.
template <class T>
void factor_qr(const T* a, std::int64_t m, std::int64_t n, T* q, T* r);

/// The eigenvalues w (n, ascending) and eigenvectors (columns of v, n×n) of (a + aᵀ)/2. The first
/// component of each vector that is within a tenth of the largest is positive: equal components do
/// not compete by their rounding errors.
template <class T>
void factor_eigh(const T* a, std::int64_t n, T* w, T* v);

/// a (m×n) = u·diag(s)·vt with k = min(m, n): u (m×k), s (k, descending), vt (k×n). Columns of u
/// have the signs that eigenvectors have, above.
template <class T>
void factor_svd(const T* a, std::int64_t m, std::int64_t n, T* u, T* s, T* vt);

}  // namespace hom::cpu
