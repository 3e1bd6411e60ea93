// backends/cpu/routines/eigen_gemm.h -- Eigen's matrix products, compiled for each instruction set
//
// What Eigen calls blocking (packed copies of blocks of both operands) lies in memory that the
// caller gives, so that nothing is allocated. The summands of an element are added in the order of
// k, in blocks of `terms`, which depend on the extents of the whole product and the processor's
// caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hom/backends/cpu/matrix_product.h>

namespace hom::cpu {

/// The sizes of Eigen's blocks.
struct EigenBlocks {
  std::int64_t terms, rows, columns;
};

/// Eigen's products of `T` for one instruction set.
template <class T>
struct EigenGemm {
  /// Blocks for a product of these extents.
  EigenBlocks (*blocks)(std::int64_t m, std::int64_t k, std::int64_t n);
  /// c = a·b, c row-major without gaps. Of each operand one stride is 1, the other any. `scratch`
  /// has `eigen_scratch_bytes` and is aligned to 64 bytes.
  void (*multiply)(const MatrixView<T>& a, const MatrixView<T>& b, T* c, const EigenBlocks& blocks,
                   std::byte* scratch);
};

template <class T>
std::int64_t eigen_scratch_bytes(const EigenBlocks& blocks) {
  const auto rounded = [](std::int64_t elements) {
    return (elements * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
  };
  return rounded(blocks.terms * blocks.rows) + rounded(blocks.terms * blocks.columns);
}

/// f32 and f64; of `sse2` also unsigned integers of 8, 32 and 64 bits, which serve for the signed
/// ones too.
template <class T>
EigenGemm<T> eigen_gemm_sse2();
template <class T>
EigenGemm<T> eigen_gemm_avx2();
template <class T>
EigenGemm<T> eigen_gemm_avx512();

/// For this processor. f32 and f64.
template <class T>
EigenGemm<T> eigen_gemm() {
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!has_avx2) return eigen_gemm_sse2<T>();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  return has_avx512 ? eigen_gemm_avx512<T>() : eigen_gemm_avx2<T>();
}

}  // namespace hom::cpu
