// core/dtype.h -- element types, and how they combine
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hom/core/float16.h>
#include <hom/core/small_vector.h>

namespace hom {

/// Extents of a tensor, or any short list of integers (axes, strides, starts). Rank 0 is `{}`.
using Shape = SmallVector<std::int64_t, 4>;

struct TensorType;

/// The type of one element. Values are the constants `bool_`, `i8`, …, `f64`; `f32[{2, 3}]` is a
/// tensor type.
struct Dtype {
  enum class Id : std::uint8_t { boolean, i8, i32, i64, u8, u32, u64, f16, bf16, f32, f64 };
  Id id = Id::f64;

  friend constexpr bool operator==(Dtype, Dtype) = default;

  constexpr bool is_bool() const { return id == Id::boolean; }
  constexpr bool is_float() const { return id >= Id::f16; }
  /// i8 … u64; bool is not an integer.
  constexpr bool is_integer() const { return id > Id::boolean && id < Id::f16; }
  constexpr bool is_signed_integer() const { return id >= Id::i8 && id <= Id::i64; }
  constexpr bool is_unsigned_integer() const { return id >= Id::u8 && id <= Id::u64; }
  /// Bytes of one element.
  std::size_t size() const;
  /// "f32", "bool", …
  std::string_view name() const;

  /// The object of tensors with these elements and this shape: `f32[{64, 10}]`, `f64[{}]`.
  TensorType operator[](Shape shape) const;
};

inline constexpr Dtype bool_{Dtype::Id::boolean};
inline constexpr Dtype i8{Dtype::Id::i8};
inline constexpr Dtype i32{Dtype::Id::i32};
inline constexpr Dtype i64{Dtype::Id::i64};
inline constexpr Dtype u8{Dtype::Id::u8};
inline constexpr Dtype u32{Dtype::Id::u32};
inline constexpr Dtype u64{Dtype::Id::u64};
inline constexpr Dtype f16{Dtype::Id::f16};
inline constexpr Dtype bf16{Dtype::Id::bf16};
inline constexpr Dtype f32{Dtype::Id::f32};
inline constexpr Dtype f64{Dtype::Id::f64};

/// Every dtype, in the order of the table in the documentation.
inline constexpr std::array<Dtype, 11> all_dtypes{bool_, i8,  i32,  i64, u8, u32,
                                                  u64,   f16, bf16, f32, f64};

/// The dtype called `name`; throws `Error` for an unknown one.
Dtype dtype_named(std::string_view name);

/// The dtype of the result of an operation on both: floats win over integers and the wider one
/// wins; f16 with bf16 is f32; integers widen among themselves to one that holds both (u8 with i8
/// is i32, u32 with i32 is i64) and never turn float (u64 with a signed one is i64, which wraps);
/// bool gives way to everything.
Dtype promote(Dtype a, Dtype b);

/// The dtype of a tensor of dtype `tensor` combined with a C++ number of dtype `number`, which is
/// weak: `0.1 * f32` is f32. A float number with an integer tensor keeps the number's own dtype, an
/// integer with a bool tensor too.
Dtype promote_weak(Dtype tensor, Dtype number);

/// C++ arithmetic types that stand for an element.
template <class T>
concept Arithmetic =
    std::is_arithmetic_v<T> && !std::same_as<T, long double> && !std::same_as<T, char16_t> &&
    !std::same_as<T, char32_t> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t>;

/// C++ types that elements are stored as.
template <class T>
concept Element = Arithmetic<T> || std::same_as<T, float16> || std::same_as<T, bfloat16>;

/// The dtype that stores the C++ type `T` (16-bit integers widen to i32).
template <Element T>
constexpr Dtype dtype_of() {
  if constexpr (std::same_as<T, bool>) {
    return bool_;
  } else if constexpr (std::same_as<T, float16>) {
    return f16;
  } else if constexpr (std::same_as<T, bfloat16>) {
    return bf16;
  } else if constexpr (std::same_as<T, float>) {
    return f32;
  } else if constexpr (std::same_as<T, double>) {
    return f64;
  } else if constexpr (sizeof(T) == 1) {
    return std::is_signed_v<T> ? i8 : u8;
  } else if constexpr (sizeof(T) <= 4) {
    return sizeof(T) == 2 || std::is_signed_v<T> ? i32 : u32;
  } else {
    return std::is_signed_v<T> ? i64 : u64;
  }
}

/// Calls `f.template operator()<T>()` with the C++ type that stores `dtype`.
template <class F>
decltype(auto) visit(Dtype dtype, F&& f) {
  switch (dtype.id) {
    case Dtype::Id::boolean:
      return f.template operator()<bool>();
    case Dtype::Id::i8:
      return f.template operator()<std::int8_t>();
    case Dtype::Id::i32:
      return f.template operator()<std::int32_t>();
    case Dtype::Id::i64:
      return f.template operator()<std::int64_t>();
    case Dtype::Id::u8:
      return f.template operator()<std::uint8_t>();
    case Dtype::Id::u32:
      return f.template operator()<std::uint32_t>();
    case Dtype::Id::u64:
      return f.template operator()<std::uint64_t>();
    case Dtype::Id::f16:
      return f.template operator()<float16>();
    case Dtype::Id::bf16:
      return f.template operator()<bfloat16>();
    case Dtype::Id::f32:
      return f.template operator()<float>();
    case Dtype::Id::f64:
      break;
  }
  return f.template operator()<double>();
}

/// An element converted as the `convert` primitive does: float → integer truncates and saturates,
/// NaN gives 0; integers wrap; anything → bool is `!= 0`.
template <Element To, Element From>
To convert_element(From value);

}  // namespace hom

#include <hom/core/convert_element.h>
