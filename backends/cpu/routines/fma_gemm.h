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
#include <span>

#include <hom/backends/cpu/matrix_product.h>

namespace hom::cpu {

/// A batch of products: operands and results of each are so many elements after the one before.
struct BatchSteps {
  std::int64_t count, a, b, c;
};

/// `terms` neighbouring elements of a row, from `offset` on.
struct TermRun {
  std::int64_t offset, terms;
  /// At most; sums are added to the result for as many terms or fewer.
  static constexpr std::int64_t most_terms = 512;
};

/// Rows of a matrix that is not there as one, such as the patches of an image: they may overlap,
/// and each has the same runs of terms. A row of line l is at l.a, the next one a_row further.
template <class T>
struct Windows {
  struct Line {
    const T* a;
    T* c;
  };
  std::span<const Line> lines;
  /// Of each line.
  std::int64_t rows, a_row, c_row;
  std::span<const TermRun> runs;
};

/// Products of `T` for one instruction set.
template <class T>
struct FmaGemm {
  /// What `multiply` needs for operands of these extents and strides, which it does not read, or of
  /// fewer rows and columns of the result; 0 where it copies nothing.
  std::int64_t (*scratch_bytes)(const MatrixView<T>& a, const MatrixView<T>& b);
  /// c = a·b, any strides of a and b, rows of c `c_row` elements apart. `scratch` is aligned to 64
  /// bytes.
  void (*multiply)(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_row,
                   std::byte* scratch);
  /// The same for each product of a batch, with what it decides decided once.
  void (*multiply_batch)(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::int64_t c_row,
                         const BatchSteps& batch, std::byte* scratch);
  /// Columns of the first panel in which products of lines of `rows` rows read b, of n in all.
  std::int64_t (*panel_columns)(std::int64_t rows, std::int64_t n);
  /// b in such panels, one after the other, each by rows without gaps: as many elements as b.
  void (*write_panels)(const MatrixView<T>& b, std::int64_t rows, T* to);
  /// c = a·b for all lines, b in panels. Sums are those of blocks of whole runs, as many as have
  /// `most_terms` or fewer together, added in order; bits depend on the runs alone.
  void (*multiply_windows)(const Windows<T>& windows, const T* b, std::int64_t columns);
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
