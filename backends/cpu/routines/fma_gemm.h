// backends/cpu/routines/fma_gemm.h -- matrix products of our own with fused multiply-adds
//
// Each sum is split into blocks of equal length, at most 512 terms (the last may be shorter), whose
// number depends on the number of terms alone; terms of a block are added in order to 0 with one
// rounding each, blocks in order. So bits depend on no layout, no other extent and no vector width,
// only on whether the processor has fused multiply-adds; and a row of a product is the product of
// the row. |error| ≤ (512 + ⌈k/512⌉)·u·Σ|aᵢₖbₖⱼ| to first order, with u half the machine epsilon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <hom/backends/cpu/matrix_product.h>

namespace hom::cpu {

/// A batch of products: operands and results of each are so many elements after the one before.
struct BatchSteps {
  std::int64_t count, a, b, c;
};

/// Products of `T` for one instruction set.
template <class T>
struct FmaGemm {
  /// What `multiply` needs for products of these extents or fewer rows; 0 where it copies nothing.
  std::int64_t (*scratch_bytes)(std::int64_t m, std::int64_t k, std::int64_t n, bool b_by_rows);
  /// c = a·b, any strides of a and b, rows of c `c_row` elements apart. `scratch` is aligned to 64
  /// bytes. That of a product serves for each part of it, of fewer rows and columns.
  void (*multiply)(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_row,
                   std::byte* scratch);
  /// The same for each product of a batch, with what it decides decided once.
  void (*multiply_batch)(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_row,
                         const BatchSteps& batch, std::byte* scratch);
};

/// f32 and f64.
template <class T>
FmaGemm<T> fma_gemm_avx2();
template <class T>
FmaGemm<T> fma_gemm_avx512();

/// For this processor, if it has fused multiply-adds, and results of n columns: vectors that would
/// be half empty may as well be half as long.
template <class T>
std::optional<FmaGemm<T>> fma_gemm(std::int64_t n) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return std::nullopt;
  const bool is_wide = n > 32 / static_cast<std::int64_t>(sizeof(T));
  return is_wide && __builtin_cpu_supports("avx512f") ? fma_gemm_avx512<T>() : fma_gemm_avx2<T>();
}

}  // namespace hom::cpu
