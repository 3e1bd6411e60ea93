// backends/cpu/eigen_product.h -- matrix products whose bits no order of adding can change
//
// Integers wrap, and an outer product has sums of one term; Eigen computes them where it is faster
// than a plain loop. (Sums of floats need the order of matrix_product.h, not kept by Eigen.)
//
// Eigen 3.4, built for any x86-64 as Hom is, has no vectors of unsigned integers, but keeps many
// sums in registers. By tests/benchmarks/matmul.cc that pays for 64 bits, where it is about twice
// as fast as a loop, and for results of fewer than 16 columns. Wider ones of 8 and 32 bits, and
// sums of few terms, are left to a loop along the rows, of which the compiler makes vectors: 4
// times as fast as Eigen for 8 bits, a fifth faster for 32.
#pragma once

#include <hom/backends/cpu/matrix_product.h>

namespace hom::cpu {

/// c = a·b modulo 2^bits, c row-major without gaps and not overlapping the operands. Unsigned
/// integers of 8, 32 and 64 bits, which serve for the signed ones too.
template <class T>
void multiply_integers(const MatrixView<T>& a, const MatrixView<T>& b, T* c);

/// c = a·b for a of one column: the bits of `multiply`, sooner. f32 and f64.
template <class T>
void multiply_outer(const MatrixView<T>& a, const MatrixView<T>& b, T* c);

}  // namespace hom::cpu
