// backends/cpu/scalar_rows.h -- scalar functions on rows of elements, by function and dtype
//
// The one list of what functions there are on the CPU: eager kernels and the interpreter of
// compiled kernels both look here.
#pragma once

#include <hom/backends/cpu/loops.h>
#include <hom/backends/nests/nest.h>

namespace hom::cpu {

/// to[i] = f(a[i]) for the result at[0] and elements of `dtype` at at[1], rounded to what the
/// function gives. The result may overwrite the operand, element by element. Null where there is no
/// such function of `dtype`, and for `polygamma`.
Row<2> unary_row_of(nest::Function function, Dtype dtype);
/// to[i] = f(a[i], b[i]) for operands of `dtype` at at[1] and at[2]. Negative integer exponents of
/// `pow` count as 0. Null also for `log_gamma_slope`.
Row<3> binary_row_of(nest::Function function, Dtype dtype);
/// to[i] = condition[i] ? a[i] : b[i]
Row<4> select_row_of(Dtype dtype);
/// to[i] = a[i]·b[i] + c[i], rounded once; of f32 and f64.
Row<4> fma_row_of(Dtype dtype);
/// to[i] = a[i] as the `convert` primitive does.
Row<2> convert_row_of(Dtype to, Dtype from);

/// A row function with a parameter.
template <std::size_t N>
using ParametricRow = void (*)(std::int64_t parameter, const Pointers<N>& at,
                               const std::array<std::int64_t, N>& strides, std::int64_t n);
/// ψ⁽ⁿ⁾ for the parameter n; null where `dtype` is no float.
ParametricRow<2> polygamma_row_of(Dtype dtype);
/// `log_gamma_slope` for the parameter k.
ParametricRow<3> log_gamma_slope_row_of(Dtype dtype);

}  // namespace hom::cpu
