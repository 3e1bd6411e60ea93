// backends/cpu/scalar_rows_convert.cc -- rows that convert elements, or choose between two
#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/scalar_rows.h>

namespace hom::cpu {
namespace {

template <class To, class From>
void convert_row(const Pointers<2>& at, const std::array<std::int64_t, 2>& strides,
                 std::int64_t n) {
  To* to = reinterpret_cast<To*>(at[0]);
  const From* from = reinterpret_cast<const From*>(at[1]);
  if (strides[0] == 1 && strides[1] == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = convert_element<To>(from[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      to[i * strides[0]] = convert_element<To>(from[i * strides[1]]);
    }
  }
}

template <class T>
void select_row(const Pointers<4>& at, const std::array<std::int64_t, 4>& strides, std::int64_t n) {
  T* to = reinterpret_cast<T*>(at[0]);
  const bool* condition = reinterpret_cast<const bool*>(at[1]);
  const T* a = reinterpret_cast<const T*>(at[2]);
  const T* b = reinterpret_cast<const T*>(at[3]);
  if (strides == std::array<std::int64_t, 4>{1, 1, 1, 1}) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      const T yes = a[i];
      const T no = b[i];
      to[i] = condition[i] ? yes : no;
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      to[i * strides[0]] = condition[i * strides[1]] ? a[i * strides[2]] : b[i * strides[3]];
    }
  }
}

}  // namespace

Row<4> select_row_of(Dtype dtype) {
  return visit_storage(dtype, []<class T>() -> Row<4> { return &select_row<T>; });
}

Row<2> convert_row_of(Dtype to, Dtype from) {
  return visit(to, [&]<class To>() {
    return visit(from, []<class From>() -> Row<2> { return &convert_row<To, From>; });
  });
}

}  // namespace hom::cpu
