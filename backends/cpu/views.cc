// backends/cpu/views.cc -- leaves, and the primitives that only change how elements are seen
#include <cstring>

#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {
namespace {

/// One element seen at every index.
TensorList constant_kernel(const Invocation& step, TensorList) {
  const TensorType& type = step.result_types[0];
  auto array = Array::allocate(TensorType{type.dtype, {}});
  const Attribute& value = step.attributes.get("value");
  visit(type.dtype, [&]<class T>() { *array->data<T>() = number<T>(value); });
  array->type.shape = type.shape;
  array->strides.assign(type.shape.size(), 0);
  return list_of(std::move(array));
}

TensorList iota_kernel(const Invocation& step, TensorList) {
  const TensorType& type = step.result_types[0];
  auto array = Array::allocate(type);
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  const std::int64_t extent = type.shape[axis];
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= type.shape[i];
  if (type.size() == 0) return list_of(std::move(array));
  const std::int64_t inner = type.size() / (outer * extent);
  visit(type.dtype, [&]<class T>() {
    T* to = array->data<T>();
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < extent; ++i) {
        const T value = convert_element<T>(i);
        for (std::int64_t k = 0; k < inner; ++k) *to++ = value;
      }
    }
  });
  return list_of(std::move(array));
}

TensorList broadcast_in_dim_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  const TensorType& type = step.result_types[0];
  const Shape& axes = step.attributes.shape("axes");
  Shape strides(type.shape.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    // An extent of 1 that stays 1 may keep any stride; 0 is right for both.
    if (x.type.shape[i] != 1) strides[static_cast<std::size_t>(axes[i])] = x.strides[i];
  }
  const std::int64_t offset = x.offset;
  return list_of(view(std::move(operands[0]), type, strides, offset));
}

/// Strides that show the elements of `x` in row-major order as `shape`; false where a copy is
/// needed. Each run of axes that can be walked with one stride is split anew.
bool reshape_strides(const Array& x, const Shape& shape, Shape& strides) {
  const AxisList<1> runs = merge_axes<1>(x.type.shape, {&x.strides});
  strides.assign(shape.size(), 1);
  std::size_t run = 0;
  std::int64_t taken = 1;  // of the current run's extent, by the axes so far
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (run < runs.size() && taken == runs[run].extent) {
      ++run;
      taken = 1;
    }
    if (run == runs.size() || runs[run].extent % (taken * shape[i]) != 0) return false;
    strides[i] = runs[run].strides[0] * taken;
    taken *= shape[i];
  }
  return true;
}

TensorList reshape_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  const TensorType& type = step.result_types[0];
  Shape strides;
  if (type.size() == 0 || is_row_major(x.type.shape, x.strides)) {
    strides = row_major_strides(type.shape);
  } else if (!reshape_strides(x, type.shape, strides)) {
    auto copy = row_major_copy(x);
    copy->type = type;
    copy->strides = row_major_strides(type.shape);
    return list_of(std::move(copy));
  }
  const std::int64_t offset = x.offset;
  return list_of(view(std::move(operands[0]), type, strides, offset));
}

TensorList transpose_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  const Shape& permutation = step.attributes.shape("permutation");
  Shape strides(permutation.size());
  for (std::size_t i = 0; i < strides.size(); ++i) {
    strides[i] = x.strides[static_cast<std::size_t>(permutation[i])];
  }
  const std::int64_t offset = x.offset;
  return list_of(view(std::move(operands[0]), step.result_types[0], strides, offset));
}

TensorList slice_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  const TensorType& type = step.result_types[0];
  const Shape& start = step.attributes.shape("start");
  const Shape& stride = step.attributes.shape("step");
  Shape strides = x.strides;
  std::int64_t offset = x.offset;
  if (type.size() == 0) {
    strides = row_major_strides(type.shape);
  } else {
    for (std::size_t i = 0; i < strides.size(); ++i) {
      offset += start[i] * x.strides[i];
      // A step that is never taken may be too large to multiply.
      if (type.shape[i] > 1) strides[i] *= stride[i];
    }
  }
  Tensor region = view(std::move(operands[0]), type, strides, offset);
  // A few elements are copied, which costs no more: they neither keep a large buffer alive nor
  // stand in the way of an update of it.
  constexpr std::size_t few_bytes = 16;
  const std::size_t bytes = static_cast<std::size_t>(type.size()) * type.dtype.size();
  if (bytes <= few_bytes && array_of(region).buffer->bytes() > few_bytes)
    return list_of(row_major_copy(array_of(region)));
  return list_of(std::move(region));
}

TensorList identity_kernel(const Invocation&, TensorList operands) { return operands; }

}  // namespace

void add_view_kernels(KernelTable& table) {
  table.add("constant", constant_kernel);
  table.add("iota", iota_kernel);
  table.add("broadcast_in_dim", broadcast_in_dim_kernel);
  table.add("reshape", reshape_kernel);
  table.add("transpose", transpose_kernel);
  table.add("slice", slice_kernel);
  table.add("stop_gradient", identity_kernel);
  table.add("barrier", identity_kernel);
}

}  // namespace hom::cpu
