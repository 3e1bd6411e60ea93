// backends/cpu/conversion.cc -- `convert`, `bitcast` and `select`
#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>

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

TensorList convert_kernel(const Invocation& step, TensorList operands) {
  const Dtype to = step.result_types[0].dtype;
  const Dtype from = array_of(operands[0]).type.dtype;
  if (to == from) return operands;
  const Row<2> row = visit(to, [&]<class To>() {
    return visit(from, []<class From>() -> Row<2> { return &convert_row<To, From>; });
  });
  return map_unary(step, std::move(operands), row);
}

/// Nothing but 0 and 1 may be read as a bool.
struct IsNonzero {
  bool operator()(std::uint8_t byte) const { return byte != 0; }
};

TensorList bitcast_kernel(const Invocation& step, TensorList operands) {
  const Dtype to = step.result_types[0].dtype;
  const Array& from = array_of(operands[0]);
  if (to.is_bool() && !from.type.dtype.is_bool()) {
    return map_unary(step, std::move(operands), &unary_row<IsNonzero, std::uint8_t>);
  }
  Shape strides = from.strides;
  const std::int64_t offset = from.offset;
  return list_of(view(std::move(operands[0]), step.result_types[0], strides, offset));
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

TensorList select_kernel(const Invocation& step, TensorList operands) {
  const Row<4> row =
      visit_storage(step.result_types[0].dtype, []<class T>() -> Row<4> { return &select_row<T>; });
  return map_ternary(step, std::move(operands), row);
}

}  // namespace

void add_conversion_kernels(KernelTable& table) {
  table.add("convert", convert_kernel);
  table.add("bitcast", bitcast_kernel);
  table.add("select", select_kernel);
}

}  // namespace hom::cpu
