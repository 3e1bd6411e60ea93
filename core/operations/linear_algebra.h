// core/operations/linear_algebra.h -- factorizations of matrices, linear systems, determinants
//
// A matrix is the last two axes of a tensor of f32 or f64; any axes in front are a batch, and
// extents may be 0. Other dtypes, a rank below 2 and matrices that are not square where they have
// to be are an `Error`. What a matrix does to be outside a function's domain (not positive
// definite, NaN) gives NaN, and never raises.
//
// Derivatives of every order and both modes are those of the mathematical function, where it has
// them; docs/linear-algebra.md says where not, and what comes out then. Functions of matrices are
// in operations/matrix_functions.h.
#pragma once

#include <boost/hana/define_struct.hpp>

#include <hom/core/tensor.h>

namespace hom {

enum class Triangle { lower, upper };

/// The triangular l, with a diagonal that is positive, of a = l·lᵀ; or (upper) u of a = uᵀ·u:
/// […, n, n] → [… n, n]. Reads (a + aᵀ)/2, so that its derivative is symmetrised. A matrix that is
/// not positive definite gives NaN throughout.
Tensor cholesky(const Operand& a, Triangle triangle = Triangle::lower);

/// How `triangular_solve` reads its matrix.
struct TriangularSolve {
  /// The triangle that is read, the lower or the upper one.
  bool lower = true;
  /// Solve aᵀ·x = b.
  bool transposed = false;
  /// The diagonal is not read, and taken to be 1.
  bool unit = false;
};
/// x with a·x = b for a triangle of a, […, n, n]; b is […, n, m], or a vector [n]. Batch axes
/// broadcast. A 0 on the diagonal gives infinities and NaN.
Tensor triangular_solve(const Operand& a, const Operand& b, const TriangularSolve& options = {});

/// Row i of l·u is row permutation[i] of a: `packed`, […, m, n], holds u on and above its diagonal
/// and below it l, whose diagonal is 1; `permutation` is i64 […, m].
struct Lu {
  BOOST_HANA_DEFINE_STRUCT(Lu, (Tensor, packed), (Tensor, permutation));
};
/// By partial pivoting, the first of the largest elements of a column being its pivot: […, m, n].
Lu lu(const Operand& a);

/// a = q·r with k = min(m, n): q, […, m, k], has orthonormal columns; r, […, k, n], is upper
/// triangular.
struct Qr {
  BOOST_HANA_DEFINE_STRUCT(Qr, (Tensor, q), (Tensor, r));
};
/// Reduced; the diagonal of r is not negative, which makes both unique where the first k columns of
/// a are independent. […, m, n].
Qr qr(const Operand& a);

/// a·v = v·diag(values): `values`, […, n], ascend; `vectors`, […, n, n], are orthonormal columns.
struct Eigh {
  BOOST_HANA_DEFINE_STRUCT(Eigh, (Tensor, values), (Tensor, vectors));
};
/// Eigenvalues and eigenvectors of (a + aᵀ)/2, […, n, n]. Of each vector the first component that
/// is within a tenth of the largest is positive.
Eigh eigh(const Operand& a);
/// The eigenvalues alone, […, n].
Tensor eigvalsh(const Operand& a);

/// a = u·diag(s)·vt with k = min(m, n): u is […, m, k], s […, k] descends and is not negative, vt
/// is […, k, n].
struct Svd {
  BOOST_HANA_DEFINE_STRUCT(Svd, (Tensor, u), (Tensor, s), (Tensor, vt));
};
/// Singular values and vectors, reduced: […, m, n]. Columns of u have the signs that eigenvectors
/// have in `eigh`.
Svd svd(const Operand& a);
/// The singular values alone, […, k].
Tensor singular_values(const Operand& a);

/// x with a·x = b, by LU: a is […, n, n]; b is […, n, m], or a vector [n]. Batch axes broadcast. A
/// derivative is one more solution with the factors at hand, O(n²) for each column. A singular
/// matrix gives infinities and NaN.
Tensor solve(const Operand& a, const Operand& b);
/// a⁻¹, […, n, n]. `solve` is faster and more accurate where a product with it is wanted.
Tensor inverse(const Operand& a);

/// det a, […, n, n] → […]. First and second derivatives are right for singular matrices too: the
/// gradient is the matrix of cofactors. It takes a singular value decomposition.
Tensor determinant(const Operand& a);
/// The matrix of cofactors, […, n, n], whatever the rank: det a·a⁻ᵀ where a is invertible.
Tensor cofactor(const Operand& a);

/// det a = sign·e^logarithm: both […].
struct LogDeterminant {
  BOOST_HANA_DEFINE_STRUCT(LogDeterminant, (Tensor, sign), (Tensor, logarithm));
};
/// Without overflow; a singular matrix has sign 0 and logarithm −∞, whose gradient does not exist
/// and is not finite.
LogDeterminant slogdet(const Operand& a);

}  // namespace hom
