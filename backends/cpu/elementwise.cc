// backends/cpu/elementwise.cc -- running rows over the arrays of an elementwise step
#include <hom/backends/cpu/elementwise.h>

#include <hom/backends/cpu/shared_rows.h>

namespace hom::cpu {
namespace {

/// The operand that the result may overwrite, or the number of operands.
std::size_t reusable_operand(const TensorList& operands, const TensorType& result) {
  const std::size_t bytes = result.dtype.size();
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Array& array = array_of(operands[k]);
    if (array.type.dtype.size() == bytes && is_sole_owner(operands[k]) &&
        is_row_major(array.type.shape, array.strides)) {
      return k;
    }
  }
  return operands.size();
}

template <std::size_t N>
TensorList map(const Invocation& step, TensorList operands, Row<N> row) {
  const TensorType& type = step.result_types[0];
  const std::size_t reused = reusable_operand(operands, type);
  std::shared_ptr<Array> fresh;
  if (reused == operands.size()) fresh = Array::allocate(type);
  const Array& to = fresh ? *fresh : array_of(operands[reused]);

  Pointers<N> at{first_byte(to)};
  std::array<std::int64_t, N> sizes{static_cast<std::int64_t>(type.dtype.size())};
  std::array<const Shape*, N> strides{&to.strides};
  for (std::size_t k = 1; k < N; ++k) {
    const Array& operand = array_of(operands[k - 1]);
    at[k] = first_byte(operand);
    sizes[k] = static_cast<std::int64_t>(operand.type.dtype.size());
    strides[k] = &operand.strides;
  }
  AxisList<N> axes = merge_axes<N>(type.shape, strides);
  prefer_long_rows(axes);
  for_each_row_shared(axes, at, sizes, row);

  if (fresh) return list_of(std::move(fresh));
  owned_array(operands[reused]).type.dtype = type.dtype;
  return list_of(std::move(operands[reused]));
}

}  // namespace

TensorList map_unary(const Invocation& step, TensorList operands, Row<2> row) {
  return map<2>(step, std::move(operands), row);
}
TensorList map_binary(const Invocation& step, TensorList operands, Row<3> row) {
  return map<3>(step, std::move(operands), row);
}
TensorList map_ternary(const Invocation& step, TensorList operands, Row<4> row) {
  return map<4>(step, std::move(operands), row);
}

}  // namespace hom::cpu
