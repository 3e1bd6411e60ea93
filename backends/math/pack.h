// backends/math/pack.h -- vectors of the processor as numbers of this folder
//
// Included by files that are compiled for one instruction set each, which define HOM_VECTOR_BYTES
// (16, 32, 64) and HOM_VECTOR_SET, the namespace of their types: so that no two of them share a
// function. Alone it is read with the vectors that every processor has.
#pragma once

#ifndef HOM_VECTOR_BYTES
#define HOM_VECTOR_BYTES 16
#define HOM_VECTOR_SET sse2
#endif

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <hom/backends/math/host.h>

namespace hom::math::HOM_VECTOR_SET {

template <class E>
struct Vectors {
  using Unsigned = std::conditional_t<sizeof(E) == 4, std::uint32_t, std::uint64_t>;
  using Signed = std::conditional_t<sizeof(E) == 4, std::int32_t, std::int64_t>;
  typedef E numbers __attribute__((vector_size(HOM_VECTOR_BYTES)));
  typedef Unsigned integers __attribute__((vector_size(HOM_VECTOR_BYTES)));
  typedef Signed mask __attribute__((vector_size(HOM_VECTOR_BYTES)));
};

template <class E>
struct Mask {
  typename Vectors<E>::mask v;
  friend HOM_MATH Mask operator&(const Mask& a, const Mask& b) { return {a.v & b.v}; }
  friend HOM_MATH Mask operator|(const Mask& a, const Mask& b) { return {a.v | b.v}; }
};

template <class E>
HOM_MATH Mask<E> operator!(const Mask<E>& a) {
  return {~a.v};
}

template <class E>
struct Integers {
  typename Vectors<E>::integers v;
  friend HOM_MATH Integers operator+(const Integers& a, const Integers& b) { return {a.v + b.v}; }
  friend HOM_MATH Integers operator-(const Integers& a, const Integers& b) { return {a.v - b.v}; }
  friend HOM_MATH Integers operator&(const Integers& a, const Integers& b) { return {a.v & b.v}; }
  friend HOM_MATH Integers operator^(const Integers& a, const Integers& b) { return {a.v ^ b.v}; }
};

template <class E>
struct Pack {
  using Element = E;
  static constexpr int lanes = HOM_VECTOR_BYTES / sizeof(E);
  using Numbers = typename Vectors<E>::numbers;
  Numbers v;

  friend HOM_MATH Pack operator+(const Pack& a, const Pack& b) { return {a.v + b.v}; }
  friend HOM_MATH Pack operator-(const Pack& a, const Pack& b) { return {a.v - b.v}; }
  friend HOM_MATH Pack operator*(const Pack& a, const Pack& b) { return {a.v * b.v}; }
  friend HOM_MATH Pack operator/(const Pack& a, const Pack& b) { return {a.v / b.v}; }
  friend HOM_MATH Mask<E> operator<(const Pack& a, const Pack& b) { return {a.v < b.v}; }
  friend HOM_MATH Mask<E> operator>(const Pack& a, const Pack& b) { return {a.v > b.v}; }
  friend HOM_MATH Mask<E> operator>=(const Pack& a, const Pack& b) { return {a.v >= b.v}; }
  friend HOM_MATH Mask<E> operator==(const Pack& a, const Pack& b) { return {a.v == b.v}; }
};

template <class E>
HOM_MATH Pack<E> like(const Pack<E>&, double value) {
  return {static_cast<E>(value) - typename Pack<E>::Numbers{}};
}
template <class E>
HOM_MATH Integers<E> bits_like(const Pack<E>&, std::uint64_t value) {
  return {static_cast<typename Vectors<E>::Unsigned>(value) - typename Vectors<E>::integers{}};
}
template <class E>
HOM_MATH Integers<E> bits(const Pack<E>& x) {
  return {std::bit_cast<typename Vectors<E>::integers>(x.v)};
}
template <class E>
HOM_MATH Pack<E> number(const Pack<E>&, const Integers<E>& b) {
  return {std::bit_cast<typename Pack<E>::Numbers>(b.v)};
}
template <class E>
HOM_MATH Integers<E> shift_left(const Integers<E>& b, int by) {
  return {b.v << by};
}
template <class E>
HOM_MATH Integers<E> shift_right(const Integers<E>& b, int by) {
  return {b.v >> by};
}
template <class E>
HOM_MATH Mask<E> is_zero(const Integers<E>& b) {
  return {b.v == typename Vectors<E>::integers{}};
}
template <class E>
HOM_MATH Pack<E> select(const Mask<E>& mask, const Pack<E>& a, const Pack<E>& b) {
  return {mask.v ? a.v : b.v};
}
template <class E>
HOM_MATH Pack<E> abs(const Pack<E>& x) {
  constexpr std::uint64_t rest = (std::uint64_t{1} << (8 * sizeof(E) - 1)) - 1;
  return number(x, bits(x) & bits_like(x, rest));
}
template <class E>
HOM_MATH Pack<E> copysign(const Pack<E>& magnitude, const Pack<E>& sign) {
  constexpr std::uint64_t bit = std::uint64_t{1} << (8 * sizeof(E) - 1);
  return number(sign, bits(abs(magnitude)) ^ (bits(sign) & bits_like(sign, bit)));
}

template <class E>
HOM_MATH Pack<E> fma(const Pack<E>& a, const Pack<E>& b, const Pack<E>& c) {
  constexpr bool is_f32 = sizeof(E) == 4;
#if HOM_VECTOR_BYTES == 64
  if constexpr (is_f32) {
    return {_mm512_fmadd_ps(a.v, b.v, c.v)};
  } else {
    return {_mm512_fmadd_pd(a.v, b.v, c.v)};
  }
#elif HOM_VECTOR_BYTES == 32
  if constexpr (is_f32) {
    return {_mm256_fmadd_ps(a.v, b.v, c.v)};
  } else {
    return {_mm256_fmadd_pd(a.v, b.v, c.v)};
  }
#else
  Pack<E> result = c;
  for (int l = 0; l < Pack<E>::lanes; ++l) {
    result.v[l] =
        is_f32 ? __builtin_fmaf(a.v[l], b.v[l], c.v[l]) : __builtin_fma(a.v[l], b.v[l], c.v[l]);
  }
  return result;
#endif
}
template <class E>
HOM_MATH Pack<E> sqrt(const Pack<E>& x) {
  constexpr bool is_f32 = sizeof(E) == 4;
#if HOM_VECTOR_BYTES == 64
  if constexpr (is_f32) {
    return {_mm512_sqrt_ps(x.v)};
  } else {
    return {_mm512_sqrt_pd(x.v)};
  }
#elif HOM_VECTOR_BYTES == 32
  if constexpr (is_f32) {
    return {_mm256_sqrt_ps(x.v)};
  } else {
    return {_mm256_sqrt_pd(x.v)};
  }
#else
  Pack<E> result = x;
  for (int l = 0; l < Pack<E>::lanes; ++l)
    result.v[l] = is_f32 ? __builtin_sqrtf(x.v[l]) : __builtin_sqrt(x.v[l]);
  return result;
#endif
}

template <class E>
HOM_MATH bool any(const Mask<E>& mask) {
  [[maybe_unused]] constexpr bool is_f32 = sizeof(E) == 4;
#if HOM_VECTOR_BYTES == 32
  if constexpr (is_f32) {
    return _mm256_movemask_ps(std::bit_cast<__m256>(mask.v)) != 0;
  } else {
    return _mm256_movemask_pd(std::bit_cast<__m256d>(mask.v)) != 0;
  }
#elif HOM_VECTOR_BYTES == 64
  if constexpr (is_f32) {
    return _mm512_movepi32_mask(std::bit_cast<__m512i>(mask.v)) != 0;
  } else {
    return _mm512_movepi64_mask(std::bit_cast<__m512i>(mask.v)) != 0;
  }
#else
  typename Vectors<E>::Signed all = 0;
  for (int l = 0; l < Pack<E>::lanes; ++l) all |= mask.v[l];
  return all != 0;
#endif
}

/// Lanes where the mask is set, one at a time.
template <class E>
__attribute__((noinline, cold)) void ask_for_lanes(Rare function,
                                                   const typename Vectors<E>::Signed* mask, E* x,
                                                   const E* y) {
  for (int l = 0; l < Pack<E>::lanes; ++l) x[l] = mask[l] != 0 ? ask_host(function, x[l], y[l]) : 0;
}
template <class E>
HOM_MATH Pack<E> rarely(const Mask<E>& mask, Rare function, const Pack<E>& x, const Pack<E>& y) {
  Pack<E> result{};
  if (!any(mask)) [[likely]]
    return result;
  E a[Pack<E>::lanes];
  E b[Pack<E>::lanes];
  typename Vectors<E>::Signed where[Pack<E>::lanes];
  std::memcpy(a, &x.v, sizeof a);
  std::memcpy(b, &y.v, sizeof b);
  std::memcpy(where, &mask.v, sizeof where);
  ask_for_lanes(function, where, a, b);
  std::memcpy(&result.v, a, sizeof a);
  return result;
}
template <class E>
HOM_MATH Pack<E> rarely(const Mask<E>& mask, Rare function, const Pack<E>& x) {
  return rarely(mask, function, x, x);
}

}  // namespace hom::math::HOM_VECTOR_SET
