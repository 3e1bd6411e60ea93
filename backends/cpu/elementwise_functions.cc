// backends/cpu/elementwise_functions.cc -- the elementwise primitives that are scalar functions
#include <utility>

#include <hom/backends/cpu/complaints.h>
#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>
#include <hom/backends/cpu/scalar_type.h>

namespace hom::cpu {
namespace {

using nest::Function;

template <Function function>
TensorList unary_kernel(const Invocation& step, TensorList operands) {
  const Dtype dtype = array_of(operands[0]).type.dtype;
  const Row<2> row = required(unary_row_of(function, dtype), dtype, step);
  return map_unary(step, std::move(operands), row);
}

template <Function function>
TensorList binary_kernel(const Invocation& step, TensorList operands) {
  const Dtype dtype = array_of(operands[0]).type.dtype;
  const Row<3> row = required(binary_row_of(function, dtype), dtype, step);
  return map_binary(step, std::move(operands), row);
}

/// Throws for a negative exponent. Strides of 0 are not walked, so a broadcast exponent costs
/// nothing.
template <scalar::Integer T>
void require_exponents(const Invocation& step, const Array& exponents) {
  AxisList<1> axes = merge_axes<1>(exponents.type.shape, {&exponents.strides});
  for (Axis<1>& axis : axes) {
    if (axis.strides[0] == 0 && axis.extent > 0) axis.extent = 1;
  }
  const auto check = [&](const Pointers<1>& at, const std::array<std::int64_t, 1>& strides,
                         std::int64_t n) {
    const T* exponent = reinterpret_cast<const T*>(at[0]);
    for (std::int64_t i = 0; i < n; ++i) {
      const T value = exponent[i * strides[0]];
      require(value >= T{0}, step.at,
              [&] { return negative_exponent(static_cast<std::int64_t>(value)); });
    }
  };
  for_each_row(axes, {first_byte(exponents)}, {sizeof(T)}, check);
}

TensorList pow_kernel(const Invocation& step, TensorList operands) {
  const Array& exponents = array_of(operands[1]);
  if (exponents.type.dtype.is_signed_integer()) {
    visit(exponents.type.dtype, [&]<class T>() {
      if constexpr (scalar::Integer<T>) require_exponents<T>(step, exponents);
    });
  }
  return binary_kernel<Function::pow>(step, std::move(operands));
}

TensorList polygamma_kernel(const Invocation& step, TensorList operands) {
  const Tensor x = row_major(operands[0]);
  auto result = Array::allocate(x.type());
  const ParametricRow<2> run = required(polygamma_row_of(x.dtype()), x.dtype(), step);
  run(step.attributes.integer("n"), {first_byte(*result), first_byte(array_of(x))}, {1, 1},
      x.size());
  return list_of(std::move(result));
}

TensorList slope_kernel(const Invocation& step, TensorList operands) {
  const Tensor alpha = row_major(operands[0]);
  const Tensor t = row_major(operands[1]);
  auto result = Array::allocate(t.type());
  const ParametricRow<3> run = required(log_gamma_slope_row_of(t.dtype()), t.dtype(), step);
  run(step.attributes.integer("k"),
      {first_byte(*result), first_byte(array_of(alpha)), first_byte(array_of(t))}, {1, 1, 1},
      t.size());
  return list_of(std::move(result));
}

template <Function function>
constexpr Kernel kernel_of() {
  if constexpr (function == Function::pow) {
    return pow_kernel;
  } else if constexpr (function == Function::polygamma) {
    return polygamma_kernel;
  } else if constexpr (function == Function::log_gamma_slope) {
    return slope_kernel;
  } else if constexpr (function < Function::add) {
    return unary_kernel<function>;
  } else {
    return binary_kernel<function>;
  }
}

}  // namespace

void add_function_kernels(KernelTable& table) {
  const auto add = [&]<std::size_t... i>(std::index_sequence<i...>) {
    (table.add(std::string(nest::name_of(static_cast<Function>(i))),
               kernel_of<static_cast<Function>(i)>()),
     ...);
  };
  add(std::make_index_sequence<static_cast<std::size_t>(Function::select)>());
}

}  // namespace hom::cpu
