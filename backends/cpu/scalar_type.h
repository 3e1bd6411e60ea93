// backends/cpu/scalar_type.h -- the types that scalar functions compute in
#pragma once

#include <concepts>
#include <type_traits>

#include <hom/core/dtype.h>

namespace hom::scalar {

template <class T>
concept Float = std::floating_point<T>;
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept Number = Float<T> || Integer<T>;
template <class T>
concept Logical = std::integral<T>;

/// The type that elements stored as `T` are computed in: float for the 16-bit floats, else `T`.
template <Element T>
using Compute = std::conditional_t<std::same_as<T, float16> || std::same_as<T, bfloat16>, float, T>;

template <Element T>
constexpr Compute<T> load(T stored) {
  return static_cast<Compute<T>>(stored);
}

/// The stored type of the result of `F` on elements stored as `T`: `T` itself, or bool for a test.
template <class F, Element T, int arity>
struct StoredResult;
template <class F, Element T>
struct StoredResult<F, T, 1> {
  using Computed = std::invoke_result_t<F, Compute<T>>;
  using type = std::conditional_t<std::same_as<Computed, Compute<T>>, T, Computed>;
};
template <class F, Element T>
struct StoredResult<F, T, 2> {
  using Computed = std::invoke_result_t<F, Compute<T>, Compute<T>>;
  using type = std::conditional_t<std::same_as<Computed, Compute<T>>, T, Computed>;
};

/// `F` on stored elements: computes in the compute type and rounds once.
template <class F, Element T>
auto apply(T a) {
  return static_cast<typename StoredResult<F, T, 1>::type>(F{}(load(a)));
}
template <class F, Element T>
auto apply(T a, T b) {
  return static_cast<typename StoredResult<F, T, 2>::type>(F{}(load(a), load(b)));
}

/// Integers are computed modulo 2^width, in the unsigned type of the same width.
template <Integer T>
constexpr auto modular(T x) {
  return static_cast<std::make_unsigned_t<T>>(x);
}

}  // namespace hom::scalar
