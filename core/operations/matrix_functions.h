// core/operations/matrix_functions.h -- least squares, functions and norms of matrices
//
// As in operations/linear_algebra.h a matrix is the last two axes of a tensor of f32 or f64, and
// any axes in front are a batch.
#pragma once

#include <optional>

#include <hom/core/tensor.h>

namespace hom {

/// The pseudoinverse (E. Moore, R. Penrose), […, m, n] → [… n, m]. Singular values of at most
/// `cutoff` times the largest count as 0; without one, max(m, n)·ε. Its derivative is that for a
/// rank that does not change; of a matrix of deficient rank no other exists.
Tensor pinv(const Operand& a, std::optional<double> cutoff = std::nullopt);
/// The x of least norm among those that minimise |a·x − b|, as pinv(a)·b: a is […, m, n]; b is
/// […, m, k], or a vector [m]. Batch axes broadcast. Throws where rows differ.
Tensor lstsq(const Operand& a, const Operand& b, std::optional<double> cutoff = std::nullopt);
/// How many singular values are larger than `cutoff` times the largest: i64 […].
Tensor matrix_rank(const Operand& a, std::optional<double> cutoff = std::nullopt);

/// e^a = Σ aᵏ/k!, […, n, n], by scaling and squaring (N. Higham, "The scaling and squaring method
/// for the matrix exponential revisited", 2005). A matrix with an infinity or NaN, or with a norm
/// beyond 2⁶⁴, gives NaN.
Tensor expm(const Operand& a);
/// aᵏ, […, n, n], by O(log k) products; a negative k inverts, and a⁰ is the unit matrix.
Tensor matrix_power(const Operand& a, std::int64_t k);

enum class MatrixNorm {
  /// √Σ aᵢⱼ²
  frobenius,
  /// The sum of the singular values.
  nuclear,
  /// The largest sum of sizes in a column.
  one,
  /// The largest sum of sizes in a row.
  infinity,
  /// The largest singular value.
  two
};
/// […, m, n] → […]. Of no elements 0, and the gradient at a matrix of zeros is 0; ties share it.
Tensor matrix_norm(const Operand& a, MatrixNorm kind = MatrixNorm::frobenius);
/// Σ aᵢᵢ, […, m, n] → […].
Tensor trace(const Operand& a);
/// The matrix with v on its diagonal and 0 elsewhere, […, n] → [… n, n]; of any dtype.
Tensor diagonal_matrix(const Operand& v);

}  // namespace hom
