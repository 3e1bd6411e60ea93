// backends/cpu/routines/float_product.h -- one product of float matrices, by the preferred library
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <hom/backends/cpu/matrix_product.h>
#include <hom/backends/cpu/routines/fma_gemm.h>

namespace hom::cpu {

/// Products of matrices of given extents and strides, prepared once. Each element is one sum of
/// products of f32 or f64 in an order of its own, |error| ≤ k·ε·Σ|aᵢₖbₖⱼ|. Thread-safe.
template <class T>
class FloatProduct {
 public:
  virtual ~FloatProduct() = default;
  /// c = a·b, c row-major without gaps, with the extents and strides that were given, or fewer
  /// rows.
  virtual void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                        std::byte* scratch) const = 0;
  /// Whether `multiply_part` computes any rows and columns of c alone, to the same bits.
  virtual bool has_parts() const { return false; }
  /// As `multiply`, for some rows of a and some columns of b; rows of c are `c_row` apart.
  virtual void multiply_part(const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                             std::int64_t c_row, std::byte* scratch) const {
    static_cast<void>(c_row);
    multiply(a, b, c, scratch);
  }
  /// As `multiply` for each product of a batch, to the same bits.
  virtual void multiply_batch(const MatrixView<T>& a, const MatrixView<T>& b, T* c,
                              const BatchSteps& batch, std::byte* scratch) const {
    MatrixView<T> left = a, right = b;
    for (std::int64_t i = 0; i < batch.count; ++i) {
      multiply(left, right, c + i * batch.c, scratch);
      left.data += batch.a;
      right.data += batch.b;
    }
  }
  /// Whether a row of c is the product of the row, to the same bits.
  virtual bool has_rows() const { return has_parts(); }
  /// Aligned to 64 bytes.
  virtual std::int64_t scratch_bytes() const = 0;
  /// `Eigen`
  virtual std::string name() const = 0;
};

/// For operands like these, whose elements are not read. Of each that is not a single row or column
/// one stride is 1; of those, the one along the longer axis. Vectors and outer products are always
/// computed as by the eager executor, which reads them at the speed of memory; other products by
/// the first of `preferred_libraries()` that takes them, or else as by the eager executor.
template <class T>
std::unique_ptr<const FloatProduct<T>> float_product(const MatrixView<T>& a,
                                                     const MatrixView<T>& b);

}  // namespace hom::cpu
