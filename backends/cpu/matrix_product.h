// backends/cpu/matrix_product.h -- products of float matrices whose bits no layout can change
//
// Each element of a·b is one sum, and its order depends on the number of terms k alone: on no
// stride, no other extent, no cache and no width of the processor's vectors. So a row of a product
// is the product of the row, and every x86-64 processor computes the same bits.
//
//   total = 0
//   for each chunk of 256 terms, in order
//     for each lane of the chunk, in order: term t of the chunk belongs to lane t mod 8
//       total += the lane's terms, added in order to 0
//
// Where k < 64 there is one lane, and the terms are simply added in order. A product and each sum
// round to the element type. No sum is −0, since all start from +0; a NaN is always the same NaN.
// |error| ≤ (32 + 8·⌈k/256⌉)·u·Σ|aᵢₖbₖⱼ| to first order, with u half the machine epsilon; k·u·Σ…
// where k < 64.
#pragma once

#include <cstdint>
#include <vector>

namespace hom::cpu {

/// Element (i, j) is data[i·row_stride + j·column_stride]; any strides, in elements.
template <class T>
struct MatrixView {
  const T* data;
  std::int64_t rows, columns;
  std::int64_t row_stride, column_stride;
};

/// How wide the vectors are that a product is computed with. Bits do not depend on it.
enum class VectorWidth : std::uint8_t { sse2, avx2, avx512 };

/// Those that this processor has, narrowest first.
std::vector<VectorWidth> vector_widths();

/// c = a·b, c row-major without gaps and not overlapping the operands. f32 and f64.
template <class T>
void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c);
template <class T>
void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, VectorWidth width);

}  // namespace hom::cpu
