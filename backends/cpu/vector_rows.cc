// backends/cpu/vector_rows.cc -- which vectors this processor has; single numbers
#include <hom/backends/cpu/vector_rows.h>

#include <hom/backends/cpu/scalar_math.h>

namespace hom::cpu {

SmallVector<const VectorRows*, 3> host_vector_rows() {
  SmallVector<const VectorRows*, 3> rows{&vector_rows_sse2};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2) rows.push_back(&vector_rows_avx2);
  if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    rows.push_back(&vector_rows_avx512);
#endif
  return rows;
}

namespace {

const VectorRows& widest() {
  static const VectorRows* const rows = host_vector_rows().back();
  return *rows;
}

template <class T>
T unary(nest::Function function, T x) {
  T result{};
  widest().unary(function, dtype_of<T>())(
      {reinterpret_cast<std::byte*>(&result), reinterpret_cast<std::byte*>(&x)}, {1, 1}, 1);
  return result;
}
template <class T>
T binary(nest::Function function, T a, T b) {
  T result{};
  widest().binary(function, dtype_of<T>())(
      {reinterpret_cast<std::byte*>(&result), reinterpret_cast<std::byte*>(&a),
       reinterpret_cast<std::byte*>(&b)},
      {1, 1, 1}, 1);
  return result;
}

}  // namespace

Row<2> vector_unary_row_of(nest::Function function, Dtype dtype) {
  return widest().unary(function, dtype);
}
Row<3> vector_binary_row_of(nest::Function function, Dtype dtype) {
  return widest().binary(function, dtype);
}

}  // namespace hom::cpu

namespace hom::scalar {

float evaluate(nest::Function function, float x) { return cpu::unary(function, x); }
double evaluate(nest::Function function, double x) { return cpu::unary(function, x); }
float evaluate(nest::Function function, float a, float b) { return cpu::binary(function, a, b); }
double evaluate(nest::Function function, double a, double b) { return cpu::binary(function, a, b); }

}  // namespace hom::scalar
