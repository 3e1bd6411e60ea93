// backends/cpu/elementwise_binary.cc -- arithmetic on two operands
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {
namespace {

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
      require(value >= T{0}, step.at, [&] {
        return Complaint{"pow: the integer exponent " + std::to_string(value) + " is negative",
                         "convert the base to a float dtype first; integer powers are integers"};
      });
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
  return binary_kernel<scalar::Pow>(step, std::move(operands));
}

}  // namespace

void add_arithmetic_kernels(KernelTable& table) {
  table.add("add", binary_kernel<scalar::Add>);
  table.add("sub", binary_kernel<scalar::Sub>);
  table.add("mul", binary_kernel<scalar::Mul>);
  table.add("div", binary_kernel<scalar::Div>);
  table.add("rem", binary_kernel<scalar::Rem>);
  table.add("max", binary_kernel<scalar::Max>);
  table.add("min", binary_kernel<scalar::Min>);
  table.add("pow", pow_kernel);
  table.add("atan2", binary_kernel<scalar::Atan2>);
  table.add("scale", binary_kernel<scalar::Scale>);
}

}  // namespace hom::cpu
