// backends/cpu/elementwise_logic.cc -- comparisons, bits and shifts of two operands
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {

void add_logic_kernels(KernelTable& table) {
  table.add("eq", binary_kernel<scalar::Eq>);
  table.add("ne", binary_kernel<scalar::Ne>);
  table.add("lt", binary_kernel<scalar::Lt>);
  table.add("le", binary_kernel<scalar::Le>);
  table.add("gt", binary_kernel<scalar::Gt>);
  table.add("ge", binary_kernel<scalar::Ge>);
  table.add("and", binary_kernel<scalar::And>);
  table.add("or", binary_kernel<scalar::Or>);
  table.add("xor", binary_kernel<scalar::Xor>);
  table.add("shift_left", binary_kernel<scalar::ShiftLeft>);
  table.add("shift_right", binary_kernel<scalar::ShiftRight>);
}

}  // namespace hom::cpu
