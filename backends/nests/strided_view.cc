// backends/nests/strided_view.cc -- views of views as one offset and strides
#include <hom/backends/nests/partition.h>
#include <hom/core/primitive.h>

namespace hom::nest {

std::optional<StridedView> strided_view(const Program& program, const Partition& partition,
                                        Slot slot) {
  const Placement& p = partition.slots[slot];
  const TensorType& type = program.type(slot);
  const bool is_view = !p.is_member && !p.is_input && !p.is_stored &&
                       (p.role == Role::view || p.role == Role::barrier);
  if (!is_view) {
    if (p.role == Role::leaf && !p.is_stored) return std::nullopt;
    return StridedView{slot, 0, row_major_strides(type.shape)};
  }
  const Step step = program.step(program.definition(slot));
  const std::string& name = step.primitive.name;
  if (name == "concat" || name == "pad" || name == "gather") return std::nullopt;
  const Slot operand =
      p.role == Role::barrier ? step.operands[slot - step.first_result] : step.operands[0];
  auto view = strided_view(program, partition, operand);
  if (!view) return std::nullopt;
  const Shape& from = program.type(operand).shape;
  Shape strides(type.shape.size(), 0);
  if (name == "broadcast_in_dim") {
    const Shape& axes = step.attributes.shape("axes");
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] != 1) strides[static_cast<std::size_t>(axes[i])] = view->strides[i];
    }
  } else if (name == "transpose") {
    const Shape& permutation = step.attributes.shape("permutation");
    for (std::size_t i = 0; i < strides.size(); ++i)
      strides[i] = view->strides[static_cast<std::size_t>(permutation[i])];
  } else if (name == "slice") {
    for (std::size_t i = 0; i < strides.size(); ++i) {
      view->offset += step.attributes.shape("start")[i] * view->strides[i];
      strides[i] = step.attributes.shape("step")[i] * view->strides[i];
    }
  } else if (name == "reshape") {
    // Digits of both shapes from the end: an axis of the result lies in one of the operand, or in
    // several that lie one behind the other.
    std::size_t k = from.size();
    std::int64_t left = 1;    // of the operand's axis in hand
    std::int64_t stride = 0;  // of its next digit
    for (std::size_t i = type.shape.size(); i-- > 0;) {
      if (type.shape[i] == 1) continue;
      std::int64_t wanted = type.shape[i];
      bool is_first = true;
      std::int64_t reach = 0;
      while (wanted > 1) {
        while (left == 1) {
          if (k == 0) return std::nullopt;
          --k;
          left = from[k];
          stride = view->strides[k];
        }
        if (is_first) {
          strides[i] = stride;
          is_first = false;
        } else if (stride != reach) {
          return std::nullopt;
        }
        const std::int64_t taken = wanted % left == 0 ? left : left % wanted == 0 ? wanted : 0;
        if (taken == 0) return std::nullopt;
        reach = stride * taken;
        stride *= taken;
        left /= taken;
        wanted /= taken;
      }
    }
  } else {
    strides = view->strides;
  }
  view->strides = strides;
  return view;
}

}  // namespace hom::nest
