// backends/cpu/elementwise.h -- kernels from scalar functions: what runs rows of elements
//
// For each function and dtype there is one row function (scalar_rows.h); everything about shapes,
// strides and ownership is written once, in elementwise.cc.
#pragma once

#include <type_traits>

#include <hom/backends/cpu/arrays.h>
#include <hom/backends/cpu/loops.h>
#include <hom/backends/cpu/scalar_math.h>
#include <hom/backends/cpu/scalar_rows.h>

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

/// `function`, for elements of `dtype`; throws `Error` naming the primitive where there is none.
template <class Function>
Function required(Function function, Dtype dtype, const Invocation& step) {
  require(function != nullptr, step.at, [&] {
    return Complaint{step.primitive.name + ": no CPU kernel for " + std::string(dtype.name())};
  });
  return function;
}

/// The entry for `dtype`; throws `Error` naming the primitive where there is none.
template <class Function>
Function entry_for(const PerDtype<Function>& table, Dtype dtype, const Invocation& step) {
  return required(table[static_cast<std::size_t>(dtype.id)], dtype, step);
}

/// The result of an elementwise step on N − 1 operands of the result's shape, overwriting an
/// operand where possible.
TensorList map_unary(const Invocation& step, TensorList operands, Row<2> row);
TensorList map_binary(const Invocation& step, TensorList operands, Row<3> row);
TensorList map_ternary(const Invocation& step, TensorList operands, Row<4> row);

}  // namespace hom::cpu
