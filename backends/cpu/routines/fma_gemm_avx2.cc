// backends/cpu/routines/fma_gemm_avx2.cc -- products for processors with AVX2 and FMA
//
// Compiled for them by the flags in BUILD, or, without those, from the pragma on. What others share
// comes before it: that must run on every processor.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include <immintrin.h>

#include <hom/backends/cpu/routines/fma_gemm.h>

#ifndef __FMA__
#pragma GCC target("avx2,fma")
#endif

namespace hom::cpu {
namespace {

template <class T>
struct Simd;

template <>
struct Simd<float> {
  using Vector = __m256;
  using Mask = __m256i;
  static constexpr std::int64_t width = 8;
  static constexpr int most_rows = 6;
  static constexpr int most_rows_of_one_vector = 8;
  static constexpr int most_sums = 12;
  static Mask mask(std::int64_t count) {
    alignas(32) static constexpr std::int32_t bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + 8 - count));
  }
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static Vector load(const float* from, Mask mask) { return _mm256_maskload_ps(from, mask); }
  static void store(float* to, Vector x) { _mm256_storeu_ps(to, x); }
  static void store(float* to, Vector x, Mask mask) { _mm256_maskstore_ps(to, mask, x); }
  static Vector broadcast(const float* from) { return _mm256_broadcast_ss(from); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
};

template <>
struct Simd<double> {
  using Vector = __m256d;
  using Mask = __m256i;
  static constexpr std::int64_t width = 4;
  static constexpr int most_rows = 6;
  static constexpr int most_rows_of_one_vector = 8;
  static constexpr int most_sums = 12;
  static Mask mask(std::int64_t count) {
    alignas(32) static constexpr std::int64_t bits[8] = {-1, -1, -1, -1};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + 4 - count));
  }
  static Vector zero() { return _mm256_setzero_pd(); }
  static Vector load(const double* from) { return _mm256_loadu_pd(from); }
  static Vector load(const double* from, Mask mask) { return _mm256_maskload_pd(from, mask); }
  static void store(double* to, Vector x) { _mm256_storeu_pd(to, x); }
  static void store(double* to, Vector x, Mask mask) { _mm256_maskstore_pd(to, mask, x); }
  static Vector broadcast(const double* from) { return _mm256_broadcast_sd(from); }
  static Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
};

}  // namespace
}  // namespace hom::cpu

#define HOM_FMA_GEMM fma_gemm_avx2
#include <hom/backends/cpu/routines/fma_gemm_body.inc>
