// backends/cpu/data_movement.cc -- `pad`, `concat` and `update_slice`
#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {
namespace {

TensorList pad_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  auto result = Array::allocate(step.result_types[0]);
  fill(*result, first_byte(array_of(operands[1])));
  Shape stride = step.attributes.shape("interior");
  for (std::int64_t& axis : stride) ++axis;
  if (x.type.size() > 0) {
    const Region inside = subregion(*result, step.attributes.shape("low"), stride);
    copy_elements(x.type.dtype, x.type.shape, inside, region_of(x));
  }
  return list_of(std::move(result));
}

TensorList concat_kernel(const Invocation& step, TensorList operands) {
  if (operands.size() == 1) return operands;
  const TensorType& type = step.result_types[0];
  auto result = Array::allocate(type);
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  Shape start(type.shape.size(), 0);
  const Shape ones(type.shape.size(), 1);
  for (const Tensor& operand : operands) {
    const Array& x = array_of(operand);
    if (x.type.size() > 0) {
      copy_elements(type.dtype, x.type.shape, subregion(*result, start, ones), region_of(x));
    }
    start[axis] += x.type.shape[axis];
  }
  return list_of(std::move(result));
}

TensorList update_slice_kernel(const Invocation& step, TensorList operands) {
  const TensorType& type = step.result_types[0];
  const Row<2> row =
      combine_row(combination_named(step.attributes.string("combine")), type.dtype, step);
  auto result = writable(std::move(operands[0]));
  const Array& update = array_of(operands[1]);
  if (update.type.size() > 0) {
    Shape stride = step.attributes.shape("step");
    for (std::size_t i = 0; i < stride.size(); ++i) {
      if (update.type.shape[i] == 1) stride[i] = 1;
    }
    const Region region = subregion(*result, step.attributes.shape("start"), stride);
    move_elements(row, type.dtype, update.type.shape, region, region_of(update));
  }
  return list_of(std::move(result));
}

}  // namespace

void add_data_movement_kernels(KernelTable& table) {
  table.add("pad", pad_kernel);
  table.add("concat", concat_kernel);
  table.add("update_slice", update_slice_kernel);
}

}  // namespace hom::cpu
