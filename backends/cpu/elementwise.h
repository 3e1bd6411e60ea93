// backends/cpu/elementwise.h -- kernels from scalar functions: rows of elements, and what runs them
//
// For each functor and dtype there is one function that computes a row; everything about shapes,
// strides and ownership is written once, in elementwise.cc.
#pragma once

#include <type_traits>

#include <hom/backends/cpu/arrays.h>
#include <hom/backends/cpu/loops.h>
#include <hom/backends/cpu/scalar_math.h>

namespace hom::cpu {

/// One entry per dtype, in the order of `Dtype::Id`; null where there is none.
template <class Function>
using PerDtype = std::array<Function, all_dtypes.size()>;

/// `of.template operator()<T>()` for each dtype's element type.
template <class Function, class Of>
constexpr PerDtype<Function> per_dtype(Of of) {
  const auto entries = [&]<class... T>() {
    return PerDtype<Function> { of.template operator()<T>()... };
  };
  return entries
      .template operator()<bool, std::int8_t, std::int32_t, std::int64_t, std::uint8_t,
                           std::uint32_t, std::uint64_t, float16, bfloat16, float, double>();
}

/// The entry for `dtype`; throws `Error` naming the primitive where there is none.
template <class Function>
Function entry_for(const PerDtype<Function>& table, Dtype dtype, const Invocation& step) {
  const Function function = table[static_cast<std::size_t>(dtype.id)];
  require(function != nullptr, step.at, [&] {
    return Complaint{step.primitive.name + ": no CPU kernel for " + std::string(dtype.name())};
  });
  return function;
}

// The pragmas below promise that iterations are independent. They are, also where the result
// overwrites an operand: it is then the same element that is read and written.

/// to[i] = F(a[i])
template <class F, class T>
void unary_row(const Pointers<2>& at, const std::array<std::int64_t, 2>& strides, std::int64_t n) {
  using Out = typename scalar::StoredResult<F, T, 1>::type;
  Out* to = reinterpret_cast<Out*>(at[0]);
  const T* a = reinterpret_cast<const T*>(at[1]);
  if (strides[0] == 1 && strides[1] == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(a[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * strides[0]] = scalar::apply<F>(a[i * strides[1]]);
  }
}

/// to[i] = F(a[i], b[i])
template <class F, class T>
void binary_row(const Pointers<3>& at, const std::array<std::int64_t, 3>& strides, std::int64_t n) {
  using Out = typename scalar::StoredResult<F, T, 2>::type;
  Out* to = reinterpret_cast<Out*>(at[0]);
  const T* a = reinterpret_cast<const T*>(at[1]);
  const T* b = reinterpret_cast<const T*>(at[2]);
  if (strides[0] == 1 && strides[1] == 1 && strides[2] == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(a[i], b[i]);
  } else if (strides[0] == 1 && strides[1] == 1 && strides[2] == 0) {
    const T second = *b;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(a[i], second);
  } else if (strides[0] == 1 && strides[1] == 0 && strides[2] == 1) {
    const T first = *a;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scalar::apply<F>(first, b[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      to[i * strides[0]] = scalar::apply<F>(a[i * strides[1]], b[i * strides[2]]);
    }
  }
}

/// The result of an elementwise step on N − 1 operands of the result's shape, overwriting an
/// operand where possible.
TensorList map_unary(const Invocation& step, TensorList operands, Row<2> row);
TensorList map_binary(const Invocation& step, TensorList operands, Row<3> row);
TensorList map_ternary(const Invocation& step, TensorList operands, Row<4> row);

template <class F>
constexpr PerDtype<Row<2>> unary_rows() {
  return per_dtype<Row<2>>([]<class T>() -> Row<2> {
    if constexpr (std::is_invocable_v<F, scalar::Compute<T>>) {
      return &unary_row<F, T>;
    } else {
      return nullptr;
    }
  });
}

template <class F>
constexpr PerDtype<Row<3>> binary_rows() {
  return per_dtype<Row<3>>([]<class T>() -> Row<3> {
    if constexpr (std::is_invocable_v<F, scalar::Compute<T>, scalar::Compute<T>>) {
      return &binary_row<F, T>;
    } else {
      return nullptr;
    }
  });
}

/// The kernel of an elementwise primitive of one operand with the meaning `F`.
template <class F>
TensorList unary_kernel(const Invocation& step, TensorList operands) {
  static constexpr PerDtype<Row<2>> rows = unary_rows<F>();
  const Dtype dtype = array_of(operands[0]).type.dtype;
  return map_unary(step, std::move(operands), entry_for(rows, dtype, step));
}

/// The kernel of an elementwise primitive of two operands with the meaning `F`.
template <class F>
TensorList binary_kernel(const Invocation& step, TensorList operands) {
  static constexpr PerDtype<Row<3>> rows = binary_rows<F>();
  const Dtype dtype = array_of(operands[0]).type.dtype;
  return map_binary(step, std::move(operands), entry_for(rows, dtype, step));
}

}  // namespace hom::cpu
