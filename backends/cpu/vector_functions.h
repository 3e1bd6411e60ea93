// backends/cpu/vector_functions.h -- the functions of backends/math/ by the vectors of this
// processor
//
// They are compiled for each instruction set, and chosen when the program runs. An element of a
// result depends on its operands alone, not on its place nor on the instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include <hom/backends/nests/nest.h>
#include <hom/core/small_vector.h>

namespace hom::cpu {

/// One function of f32 or f64.
template <class T>
struct UnaryFunction {
  T (*of_number)(T x);
  /// to[i] = f(x[i]) for i < n; the result may overwrite the operand.
  void (*of_row)(T* to, const T* x, std::int64_t n);
};
template <class T>
struct BinaryFunction {
  T (*of_number)(T a, T b);
  void (*of_row)(T* to, const T* a, const T* b, std::int64_t n);
};

/// What there is for one instruction set; null where backends/math/ has no such function.
struct VectorFunctions {
  const char* name;
  const UnaryFunction<float>* (*unary_f32)(nest::Function function);
  const UnaryFunction<double>* (*unary_f64)(nest::Function function);
  const BinaryFunction<float>* (*binary_f32)(nest::Function function);
  const BinaryFunction<double>* (*binary_f64)(nest::Function function);

  template <class T>
  const UnaryFunction<T>* unary(nest::Function function) const {
    if constexpr (std::is_same_v<T, float>) {
      return unary_f32(function);
    } else {
      return unary_f64(function);
    }
  }
  template <class T>
  const BinaryFunction<T>* binary(nest::Function function) const {
    if constexpr (std::is_same_v<T, float>) {
      return binary_f32(function);
    } else {
      return binary_f64(function);
    }
  }
};
extern const VectorFunctions vector_functions_sse2;
extern const VectorFunctions vector_functions_avx2;
extern const VectorFunctions vector_functions_avx512;

/// All that this processor can run, the widest last.
const SmallVector<const VectorFunctions*, 3>& host_vector_functions();
/// The widest.
const VectorFunctions& vector_functions();

}  // namespace hom::cpu
