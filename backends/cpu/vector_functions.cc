// backends/cpu/vector_functions.cc -- which vectors this processor has, and single numbers
#include <hom/backends/cpu/vector_functions.h>

#include <hom/backends/cpu/scalar_math.h>

namespace hom::cpu {

const SmallVector<const VectorFunctions*, 3>& host_vector_functions() {
  static const SmallVector<const VectorFunctions*, 3> functions = [] {
    SmallVector<const VectorFunctions*, 3> there{&vector_functions_sse2};
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_avx2) there.push_back(&vector_functions_avx2);
    if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
      there.push_back(&vector_functions_avx512);
#endif
    return there;
  }();
  return functions;
}

const VectorFunctions& vector_functions() {
  static const VectorFunctions& widest = *host_vector_functions().back();
  return widest;
}

}  // namespace hom::cpu

namespace hom::scalar {

float evaluate(nest::Function function, float x) {
  return cpu::vector_functions().unary_f32(function)->of_number(x);
}
double evaluate(nest::Function function, double x) {
  return cpu::vector_functions().unary_f64(function)->of_number(x);
}
float evaluate(nest::Function function, float a, float b) {
  return cpu::vector_functions().binary_f32(function)->of_number(a, b);
}
double evaluate(nest::Function function, double a, double b) {
  return cpu::vector_functions().binary_f64(function)->of_number(a, b);
}

}  // namespace hom::scalar
