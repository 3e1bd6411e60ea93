// backends/cpu/conversion.cc -- `convert`, `bitcast` and `select`
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {
namespace {

TensorList convert_kernel(const Invocation& step, TensorList operands) {
  const Dtype to = step.result_types[0].dtype;
  const Dtype from = array_of(operands[0]).type.dtype;
  if (to == from) return operands;
  return map_unary(step, std::move(operands), convert_row_of(to, from));
}

TensorList bitcast_kernel(const Invocation& step, TensorList operands) {
  const Dtype to = step.result_types[0].dtype;
  const Array& from = array_of(operands[0]);
  // Nothing but 0 and 1 may be read as a bool.
  if (to.is_bool() && !from.type.dtype.is_bool())
    return map_unary(step, std::move(operands), convert_row_of(bool_, u8));
  Shape strides = from.strides;
  const std::int64_t offset = from.offset;
  return list_of(view(std::move(operands[0]), step.result_types[0], strides, offset));
}

TensorList select_kernel(const Invocation& step, TensorList operands) {
  return map_ternary(step, std::move(operands), select_row_of(step.result_types[0].dtype));
}

}  // namespace

void add_conversion_kernels(KernelTable& table) {
  table.add("convert", convert_kernel);
  table.add("bitcast", bitcast_kernel);
  table.add("select", select_kernel);
}

}  // namespace hom::cpu
