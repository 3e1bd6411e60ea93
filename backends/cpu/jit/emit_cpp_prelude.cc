// backends/cpu/jit/emit_cpp_prelude.cc -- the text in front of emitted C++
#include <hom/backends/cpu/jit/emit_cpp_prelude.h>

#include <array>

namespace hom::cpu {
namespace {

constexpr const char* types =
    R"(// Elements, named as Hom's dtypes; a bool is stored as 0 or 1 in a u8, a 16-bit float as its bits.
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long i64;
typedef unsigned long u64;
typedef float f32;
typedef double f64;

struct Failure {
  i64 failure;
  i64 value;
};
struct Host {
  void (*call)(Host*, u32, char* const*, char* const*, char*, char* const*);
  void (*launch)(Host*, void (*)(char* const*, i64, i64, Failure*), char* const*, i64, i64);
  void (*strips)(Host*, u32, char* const*, const i64*);
  Failure record;
};

#define INLINE static inline __attribute__((always_inline))
#define MEMBER inline __attribute__((always_inline))

// Lanes<8>::f32 is a vector of 8, or f32 itself for Lanes<1>; Of<f32x8> says what it consists of.
template <int lanes>
struct Lanes;
template <class V>
struct Of;
#define ELEMENT(type, signed_integer, unsigned_integer) \
  template <>                                           \
  struct Of<type> {                                     \
    typedef type element;                               \
    typedef signed_integer integer;                     \
    typedef unsigned_integer bits;                      \
    static constexpr int lanes = 1;                     \
  };
ELEMENT(bool, bool, bool)
ELEMENT(i8, i8, u8)
ELEMENT(u8, i8, u8)
ELEMENT(i16, i16, u16)
ELEMENT(u16, i16, u16)
ELEMENT(i32, i32, u32)
ELEMENT(u32, i32, u32)
ELEMENT(i64, i64, u64)
ELEMENT(u64, i64, u64)
ELEMENT(f32, i32, u32)
ELEMENT(f64, i64, u64)
template <>
struct Lanes<1> {
  typedef ::i8 i8;
  typedef ::u8 u8;
  typedef ::i32 i32;
  typedef ::u16 u16;
  typedef ::u32 u32;
  typedef ::i64 i64;
  typedef ::f32 f32;
};
#define VECTOR(type, n) typedef type type##x##n __attribute__((vector_size(n * sizeof(type))));
#define VECTOR_OF(type, signed_integer, unsigned_integer, n) \
  template <>                                                \
  struct Of<type##x##n> {                                    \
    typedef type element;                                    \
    typedef signed_integer##x##n integer;                    \
    typedef unsigned_integer##x##n bits;                     \
    static constexpr int lanes = n;                          \
  };
#define VECTORS(n)                                                                         \
  VECTOR(i8, n) VECTOR(u8, n) VECTOR(i16, n) VECTOR(u16, n) VECTOR(i32, n) VECTOR(u32, n)  \
  VECTOR(i64, n) VECTOR(u64, n) VECTOR(f32, n) VECTOR(f64, n)                              \
  VECTOR_OF(i8, i8, u8, n) VECTOR_OF(u8, i8, u8, n) VECTOR_OF(i16, i16, u16, n)            \
  VECTOR_OF(u16, i16, u16, n) VECTOR_OF(i32, i32, u32, n) VECTOR_OF(u32, i32, u32, n)      \
  VECTOR_OF(i64, i64, u64, n) VECTOR_OF(u64, i64, u64, n) VECTOR_OF(f32, i32, u32, n)      \
  VECTOR_OF(f64, i64, u64, n)                                                              \
  template <>                                                                              \
  struct Lanes<n> {                                                                        \
    typedef i8x##n i8;                                                                     \
    typedef u8x##n u8;                                                                     \
    typedef i32x##n i32;                                                                   \
    typedef u16x##n u16;                                                                   \
    typedef u32x##n u32;                                                                   \
    typedef i64x##n i64;                                                                   \
    typedef f32x##n f32;                                                                   \
  };
)";

constexpr const char* memory = R"(
template <class V>
using element_of = typename Of<V>::element;

template <class To, class From>
INLINE To as(From bits) {
  return __builtin_bit_cast(To, bits);
}

// The same number in each lane.
template <class V>
INLINE V splat(element_of<V> number) {
  if constexpr (Of<V>::lanes == 1) {
    return number;
  } else {
    return number - V{};
  }
}

template <class V>
constexpr bool is_integer = element_of<V>(0.5) == 0;

// As C converts. Integers are narrowed in steps of two, which compilers do better.
template <class To, class From>
INLINE To convert(From x) {
  if constexpr (Of<To>::lanes == 1) {
    return (To)x;
  } else if constexpr (is_integer<From> && is_integer<To> && sizeof(From) >= 4 * sizeof(To)) {
    typedef Lanes<Of<To>::lanes> L;
    if constexpr (sizeof(element_of<From>) == 8) {
      return convert<To>(__builtin_convertvector(x, typename L::i32));
    } else {
      return __builtin_convertvector(__builtin_convertvector(x, typename L::u16), To);
    }
  } else {
    return __builtin_convertvector(x, To);
  }
}

// ---- memory ----

template <class V, class T>
INLINE V load(const T* from) {
  V result;
  __builtin_memcpy(&result, from, sizeof(V));
  return result;
}
template <class V, class T>
INLINE void store(T* to, V value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

#define EACH_LANE _Pragma("GCC unroll 64") for (int l = 0; l < Of<V>::lanes; ++l)

template <class V, class T>
INLINE V strided(const T* from, i64 stride) {
  V result{};
  EACH_LANE result[l] = from[l * stride];
  return result;
}
template <class V, class T, class I>
INLINE V gather(const T* from, I index) {
  V result{};
  EACH_LANE result[l] = from[index[l]];
  return result;
}

struct Sum {
  template <class V>
  static MEMBER V of(V a, V b) {
    return V(a + b);
  }
};
struct Product {
  template <class V>
  static MEMBER V of(V a, V b) {
    return V(a * b);
  }
};
struct Both {
  template <class V>
  static MEMBER V of(V a, V b) {
    return V(a & b);
  }
};
struct Either {
  template <class V>
  static MEMBER V of(V a, V b) {
    return V(a | b);
  }
};

// All lanes as one: the halves, then their halves.
template <class F, class V>
INLINE element_of<V> fold(V x) {
  typedef element_of<V> T;
  if constexpr (Of<V>::lanes == 2) {
    return F::of(T(x[0]), T(x[1]));
  } else if constexpr (Of<V>::lanes == 4) {
    return fold<F>(F::of(__builtin_shufflevector(x, x, 0, 1), __builtin_shufflevector(x, x, 2, 3)));
  } else if constexpr (Of<V>::lanes == 8) {
    return fold<F>(F::of(__builtin_shufflevector(x, x, 0, 1, 2, 3), __builtin_shufflevector(x, x, 4, 5, 6, 7)));
  } else {
    T result = x[0];
    for (int l = 1; l < Of<V>::lanes; ++l) result = F::of(result, T(x[l]));
    return result;
  }
}

// Masks have 0 or -1 in each lane.
template <class M>
INLINE bool all(M mask) {
  return fold<Both>(mask) != 0;
}

// Where the mask holds; elsewhere 0, and the place may be none.
template <class V, class M, class T>
INLINE V load_where(M mask, const T* from) {
  if (__builtin_expect(all(mask), 1)) return load<V>(from);
  V result{};
  EACH_LANE if (mask[l]) result[l] = from[l];
  return result;
}
template <class V, class M, class T>
INLINE V strided_where(M mask, const T* from, i64 stride) {
  V result{};
  EACH_LANE if (mask[l]) result[l] = from[l * stride];
  return result;
}
template <class V, class M, class T, class I>
INLINE V gather_where(M mask, const T* from, I index) {
  V result{};
  EACH_LANE if (mask[l]) result[l] = from[index[l]];
  return result;
}
)";

constexpr const char* arithmetic = R"(
// ---- arithmetic ----

template <class V>
INLINE V absolute(V x) {
  if constexpr (is_integer<V>) {
    return x < V{} ? V(-x) : x;
  } else {
    typedef typename Of<V>::bits B;
    return as<V>(as<B>(x) & (splat<B>(element_of<B>(-1)) >> 1));
  }
}
template <class V>
INLINE V copy_sign(V magnitude, V sign) {
  typedef typename Of<V>::bits B;
  const B rest = splat<B>(element_of<B>(-1)) >> 1;
  return as<V>((as<B>(magnitude) & rest) | (as<B>(sign) & ~rest));
}
// The first of equals; NaN if either is.
template <class V>
INLINE V maximum(V a, V b) {
  return ((a >= b) | (a != a)) ? a : b;
}
template <class V>
INLINE V minimum(V a, V b) {
  return ((a <= b) | (a != a)) ? a : b;
}
template <class V>
INLINE V sign_of(V x) {
  typedef element_of<V> T;
  return x > V{} ? splat<V>(T(1)) : (x < V{} ? splat<V>(T(-1)) : x);
}
// The product, or 0 where it is NaN and a factor is 0.
template <class V>
INLINE V scale(V a, V b) {
  const V product = a * b;
  return ((product != product) & ((a == V{}) | (b == V{}))) ? V{} : product;
}

// a * b + c, rounded once.
INLINE f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
INLINE f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
template <class V>
INLINE V fused(V a, V b, V c) {
  V result{};
  EACH_LANE result[l] = fused(element_of<V>(a[l]), element_of<V>(b[l]), element_of<V>(c[l]));
  return result;
}
#if defined(__FMA__)
INLINE f32x4 fused(f32x4 a, f32x4 b, f32x4 c) { return __builtin_ia32_vfmaddps(a, b, c); }
INLINE f64x2 fused(f64x2 a, f64x2 b, f64x2 c) { return __builtin_ia32_vfmaddpd(a, b, c); }
INLINE f32x8 fused(f32x8 a, f32x8 b, f32x8 c) { return __builtin_ia32_vfmaddps256(a, b, c); }
INLINE f64x4 fused(f64x4 a, f64x4 b, f64x4 c) { return __builtin_ia32_vfmaddpd256(a, b, c); }
#endif
#if defined(__AVX512F__)
INLINE f32x16 fused(f32x16 a, f32x16 b, f32x16 c) { return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4); }
INLINE f64x8 fused(f64x8 a, f64x8 b, f64x8 c) { return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4); }
#endif

// To an integer, half to even: adding and subtracting 2^(digits - 1) rounds there.
template <class V>
INLINE V round_to_even(V x) {
  const V bound = splat<V>(sizeof(element_of<V>) == 4 ? 0x1p23 : 0x1p52);
  const V magnitude = absolute(x);
  return magnitude < bound ? copy_sign(V((magnitude + bound) - bound), x) : x;
}
template <class V>
INLINE V round_down(V x) {
  const V nearest = round_to_even(x);
  return nearest > x ? V(nearest - splat<V>(1)) : nearest;
}
template <class V>
INLINE V round_up(V x) {
  const V nearest = round_to_even(x);
  return copy_sign(nearest < x ? V(nearest + splat<V>(1)) : nearest, x);
}
INLINE f32 square_root(f32 x) { return __builtin_sqrtf(x); }
INLINE f64 square_root(f64 x) { return __builtin_sqrt(x); }
template <class V>
INLINE V square_root(V x) {
  V result{};
  EACH_LANE result[l] = square_root(element_of<V>(x[l]));
  return result;
}
// clang sees the vector in that; g++ is told.
#if defined(__SSE2__) && !defined(__clang__)
INLINE f32x4 square_root(f32x4 x) { return __builtin_ia32_sqrtps(x); }
INLINE f64x2 square_root(f64x2 x) { return __builtin_ia32_sqrtpd(x); }
#if defined(__AVX__)
INLINE f32x8 square_root(f32x8 x) { return __builtin_ia32_sqrtps256(x); }
INLINE f64x4 square_root(f64x4 x) { return __builtin_ia32_sqrtpd256(x); }
#endif
#if defined(__AVX512F__)
INLINE f32x16 square_root(f32x16 x) { return __builtin_ia32_sqrtps512_mask(x, x, -1, 4); }
INLINE f64x8 square_root(f64x8 x) { return __builtin_ia32_sqrtpd512_mask(x, x, -1, 4); }
#endif
#endif

// Integers: the floor of a/b and what is left; 0 and a where b is 0.
template <class V>
INLINE V quotient(V a, V b) {
  typedef element_of<V> T;
  if constexpr (Of<V>::lanes > 1) {
    V result{};
    for (int l = 0; l < Of<V>::lanes; ++l) result[l] = quotient(T(a[l]), T(b[l]));
    return result;
  } else {
    if (b == 0) return 0;
    if constexpr (T(-1) > 0) return T(a / b);
    if (b == T(-1)) return T(-a);
    return T(a / b - (a % b != 0 && (a < 0) != (b < 0)));
  }
}
template <class V>
INLINE V remainder(V a, V b) {
  typedef element_of<V> T;
  if constexpr (Of<V>::lanes > 1) {
    V result{};
    for (int l = 0; l < Of<V>::lanes; ++l) result[l] = remainder(T(a[l]), T(b[l]));
    return result;
  } else {
    if (b == 0) return a;
    if constexpr (T(-1) > 0) return T(a % b);
    if (b == T(-1)) return 0;
    const T rest = T(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
  }
}
// By any amount: 0, or the sign, where it is not one of 0 ... width - 1.
template <class V>
INLINE V shift_left(V a, V amount) {
  typedef typename Of<V>::bits B;
  constexpr int width = 8 * sizeof(element_of<V>);
  const V shifted = (V)((B)a << ((B)amount & splat<B>(width - 1)));
  return (B)amount < splat<B>(width) ? shifted : V{};
}
template <class V>
INLINE V shift_right(V a, V amount) {
  typedef typename Of<V>::bits B;
  typedef element_of<V> T;
  constexpr int width = 8 * sizeof(T);
  const V shifted = (V)(a >> (V)((B)amount & splat<B>(width - 1)));
  return (B)amount < splat<B>(width) ? shifted : (a < V{} ? splat<V>(T(-1)) : V{});
}

// ---- conversions ----

// Floats as integers: truncated, at the ends of the range beyond them, 0 for NaN.
template <class To, class From>
INLINE To saturate(From x) {
  typedef element_of<To> Integer;
  typedef element_of<From> Float;
  constexpr bool is_signed = Integer(-1) < 0;
  constexpr Integer low = is_signed ? Integer(typename Of<Integer>::bits(1) << (8 * sizeof(Integer) - 1)) : Integer(0);
  constexpr Integer high = Integer(~low);
  if constexpr (Of<To>::lanes == 1) {
    if (x != x) return 0;
    return x >= (Float)high ? high : x <= (Float)low ? low : (To)x;
  } else {
    typedef typename Of<To>::integer Mask;
    const auto above = x >= splat<From>((Float)high);
    const auto below = x <= splat<From>((Float)low);
    const To inside = convert<To>((above | below | (x != x)) ? From{} : x);
    const To clamped = convert<Mask>(below) ? splat<To>(low) : inside;
    return convert<Mask>(above) ? splat<To>(high) : clamped;
  }
}

// The 16-bit floats, by their bits. Computing is done in f32.
template <class H>
INLINE auto decode_bf16(H half) {
  typedef Lanes<Of<H>::lanes> L;
  return as<typename L::f32>(convert<typename L::u32>(half) << 16);
}
template <class F>
INLINE auto encode_bf16(F value) {
  typedef Lanes<Of<F>::lanes> L;
  typedef typename L::u32 U;
  const U word = as<U>(value);
  const U rounded = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
  const U quiet = (word >> 16) | 0x40u;
  return convert<typename L::u16>((word & 0x7fffffffu) > splat<U>(0x7f800000u) ? quiet : rounded);
}
template <class H>
INLINE auto decode_f16(H half) {
  typedef Lanes<Of<H>::lanes> L;
  typedef typename L::u32 U;
  typedef typename L::f32 F;
  const U word = convert<U>(half);
  const U magnitude = word & 0x7fffu;
  const U normal = (magnitude << 13) + 0x38000000u;
  const U special = ((magnitude & 0x3ffu) << 13) | 0x7f800000u;
  const U small = as<U>(convert<F>(as<typename L::i32>(magnitude)) * splat<F>(0x1p-24f));
  const U finite = magnitude < splat<U>(0x400u) ? small : normal;
  return as<F>((magnitude < splat<U>(0x7c00u) ? finite : special) | ((word & 0x8000u) << 16));
}
template <class F>
INLINE auto encode_f16(F value) {
  typedef Lanes<Of<F>::lanes> L;
  typedef typename L::u32 U;
  const U word = as<U>(value);
  const U magnitude = word & 0x7fffffffu;
  const U small = as<U>(as<F>(magnitude) + splat<F>(0.5f)) - 0x3f000000u;
  const U normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const U finite = magnitude < splat<U>(0x38800000u) ? small : normal;
  const U large = magnitude > splat<U>(0x7f800000u) ? splat<U>(0x7e00u) : splat<U>(0x7c00u);
  const U rounded = magnitude < splat<U>(0x477ff000u) ? finite : large;
  return convert<typename L::u16>(rounded | ((word >> 16) & 0x8000u));
}
)";

constexpr const char* reductions = R"(
// ---- reductions: eight lanes, chunks of 64 terms, chunks combined like digits of a counter ----

struct Maximum {
  template <class V>
  static MEMBER V of(V a, V b) {
    return maximum(a, b);
  }
};
struct Minimum {
  template <class V>
  static MEMBER V of(V a, V b) {
    return minimum(a, b);
  }
};

// The eight lanes of a chunk as one: in one vector, in two, in four, or each apart.
template <class F, class V>
INLINE auto fold(V a, V b) {
  return fold<F>(F::of(a, b));
}
template <class F, class V>
INLINE auto fold(V a, V b, V c, V d) {
  return fold<F>(F::of(F::of(a, c), F::of(b, d)));
}
template <class F, class V>
INLINE V fold_lanes(const V* lane) {
  const V a = F::of(F::of(lane[0], lane[4]), F::of(lane[2], lane[6]));
  return F::of(a, F::of(F::of(lane[1], lane[5]), F::of(lane[3], lane[7])));
}
template <class F, class V>
INLINE V fold_eight(V a, V b, V c, V d, V e, V f, V g, V h) {
  return F::of(F::of(F::of(a, e), F::of(c, g)), F::of(F::of(b, f), F::of(d, h)));
}
template <class V>
INLINE void fill_lanes(V* lane, V value) {
  for (int l = 0; l < 8; ++l) lane[l] = value;
}

template <class T, class... V>
INLINE void store_lanes(T* lane, V... groups) {
  int first = 0;
  ((store(lane + first, groups), first += Of<V>::lanes), ...);
}

// Totals of 2^k chunks, for each digit k of their number. Called once in 64 terms, so not inlined.
template <class V, int digits>
struct Chunks {
  V pending[digits];
  u64 count = 0;

  // The total of 2^digit chunks, whose number is a multiple of that so far.
  template <class F>
  __attribute__((noinline)) void add(V part, int digit = 0) {
    const u64 more = u64(1) << digit;
    for (; count >> digit & 1; ++digit) part = F::of(pending[digit], part);
    pending[digit] = part;
    count += more;
  }
  template <class F>
  __attribute__((noinline)) V total() const {
    int digit = __builtin_ctzl(count);
    V result = pending[digit];
    while (count >> ++digit != 0) {
      if (count >> digit & 1) result = F::of(pending[digit], result);
    }
    return result;
  }
};

// The same where chunks are many: eight become one at once, for what carries is hard to foresee.
template <class V, int digits>
struct ManyChunks {
  V few[8];
  int next = 0;
  Chunks<V, digits> all;

  template <class F>
  void add(V part) {
    few[next++] = part;
    if (next < 8) return;
    next = 0;
    const V low = F::of(F::of(few[0], few[1]), F::of(few[2], few[3]));
    all.template add<F>(F::of(low, F::of(F::of(few[4], few[5]), F::of(few[6], few[7]))), 3);
  }
  template <class F>
  __attribute__((noinline)) V total() {
    for (int i = 0; i < next; ++i) all.template add<F>(few[i]);
    return all.template total<F>();
  }
};

// The first extreme and its place; the first NaN is the most extreme of all.
template <class V, class P>
INLINE void first_maximum(V& best, P& place, V term, i64 position) {
  const auto better = (term > best) | ((term != term) & (best == best));
  if constexpr (Of<V>::lanes == 1) {
    if (better) place = position;
  } else {
    place = convert<P>(better) ? splat<P>(position) : place;
  }
  best = better ? term : best;
}
template <class V, class P>
INLINE void first_minimum(V& best, P& place, V term, i64 position) {
  const auto better = (term < best) | ((term != term) & (best == best));
  if constexpr (Of<V>::lanes == 1) {
    if (better) place = position;
  } else {
    place = convert<P>(better) ? splat<P>(position) : place;
  }
  best = better ? term : best;
}

// ---- what the host supplies ----

// Functions of one number each, then the same functions of vectors; set when the code is loaded.
extern "C" __attribute__((visibility("hidden"))) void* const* hom_functions;

template <class R, class A>
INLINE R call(int function, A a) {
  if constexpr (Of<A>::lanes == 1) {
    return ((R(*)(A))hom_functions[function])(a);
  } else {
    R result;
    ((void (*)(void*, const void*, i64))hom_functions[function_count + function])(
        &result, &a, Of<A>::lanes);
    return result;
  }
}
// Only where a number is so far from 0; elsewhere 0.
template <class R, class A>
INLINE R call_far(int function, A a, element_of<A> limit) {
  const auto far = absolute(a) > splat<A>(limit);
  if constexpr (Of<A>::lanes == 1) {
    return __builtin_expect(far, 0) ? call<R>(function, a) : R{};
  } else {
    return __builtin_expect(!all(~far), 0) ? call<R>(function, a) : R{};
  }
}
template <class R, class A>
INLINE R call(int function, A a, A b) {
  if constexpr (Of<A>::lanes == 1) {
    return ((R(*)(A, A))hom_functions[function])(a, b);
  } else {
    R result;
    ((void (*)(void*, const void*, const void*, i64))hom_functions[function_count + function])(
        &result, &a, &b, Of<A>::lanes);
    return result;
  }
}
template <class R, class A>
INLINE R call_with(int function, i64 parameter, A a) {
  if constexpr (Of<A>::lanes == 1) {
    return ((R(*)(i64, A))hom_functions[function])(parameter, a);
  } else {
    R result;
    ((void (*)(i64, void*, const void*, i64))hom_functions[function_count + function])(
        parameter, &result, &a, Of<A>::lanes);
    return result;
  }
}
template <class R, class A>
INLINE R call_with(int function, i64 parameter, A a, A b) {
  if constexpr (Of<A>::lanes == 1) {
    return ((R(*)(i64, A, A))hom_functions[function])(parameter, a, b);
  } else {
    R result;
    ((void (*)(i64, void*, const void*, const void*, i64))hom_functions[function_count + function])(
        parameter, &result, &a, &b, Of<A>::lanes);
    return result;
  }
}

// Keeps the first failed check.
static void __attribute__((noinline, cold)) fail(Failure* record, i64 failure, i64 value) {
  if (record->failure != 0) return;
  record->failure = failure;
  record->value = value;
}
)";

}  // namespace

std::string cpp_prelude(int vector_bytes) {
  std::string text = types;
  // As many lanes as bytes fit, and what folds reach on the way to one.
  for (int lanes = 2; lanes <= vector_bytes; lanes *= 2)
    text += "VECTORS(" + std::to_string(lanes) + ")\n";
  return text + memory + arithmetic + reductions;
}

}  // namespace hom::cpu
