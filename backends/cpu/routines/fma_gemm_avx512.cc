// backends/cpu/routines/fma_gemm_avx512.cc -- products for processors with AVX-512
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

#ifndef __AVX512F__
#pragma GCC target("avx512f,avx2,fma")
#endif

namespace hom::cpu {
namespace {

template <class T>
struct Simd;

template <>
struct Simd<float> {
  using Vector = __m512;
  using Mask = __mmask16;
  static constexpr std::int64_t width = 16;
  static constexpr int most_rows = 12;
  static constexpr int most_rows_of_one_vector = 12;
  static constexpr int most_sums = 24;
  static Mask mask(std::int64_t count) { return static_cast<Mask>((1u << count) - 1); }
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static Vector load(const float* from, Mask mask) { return _mm512_maskz_loadu_ps(mask, from); }
  static void store(float* to, Vector x) { _mm512_storeu_ps(to, x); }
  static void store(float* to, Vector x, Mask mask) { _mm512_mask_storeu_ps(to, mask, x); }
  static Vector broadcast(const float* from) { return _mm512_set1_ps(*from); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
};

template <>
struct Simd<double> {
  using Vector = __m512d;
  using Mask = __mmask8;
  static constexpr std::int64_t width = 8;
  static constexpr int most_rows = 12;
  static constexpr int most_rows_of_one_vector = 12;
  static constexpr int most_sums = 24;
  static Mask mask(std::int64_t count) { return static_cast<Mask>((1u << count) - 1); }
  static Vector zero() { return _mm512_setzero_pd(); }
  static Vector load(const double* from) { return _mm512_loadu_pd(from); }
  static Vector load(const double* from, Mask mask) { return _mm512_maskz_loadu_pd(mask, from); }
  static void store(double* to, Vector x) { _mm512_storeu_pd(to, x); }
  static void store(double* to, Vector x, Mask mask) { _mm512_mask_storeu_pd(to, mask, x); }
  static Vector broadcast(const double* from) { return _mm512_set1_pd(*from); }
  static Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
  static Vector fused(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
};

}  // namespace
}  // namespace hom::cpu

#define HOM_FMA_GEMM fma_gemm_avx512
#include <hom/backends/cpu/routines/fma_gemm_body.inc>
