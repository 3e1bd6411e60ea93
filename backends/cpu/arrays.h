// backends/cpu/arrays.h -- what kernels ask of arrays: layout, ownership, new arrays and views
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>

#include <hom/core/executor.h>

namespace hom::cpu {

/// Whether the elements lie row by row without gaps. Strides of axes of extent 1 do not matter.
inline bool is_row_major(const Shape& shape, const Shape& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

/// Whether no two indices share an element, by a test that knows slices and permutations of
/// ordinary arrays: each stride steps over all that the smaller strides reach.
inline bool is_injective(const Shape& shape, const Shape& strides) {
  if (is_row_major(shape, strides)) return true;
  SmallVector<std::pair<std::int64_t, std::int64_t>, 6> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1) axes.emplace_back(strides[i] < 0 ? -strides[i] : strides[i], shape[i]);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : axes) {
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

/// Whether the list that `x` stands in is the only owner of its array and of the elements.
inline bool is_sole_owner(const Tensor& x) {
  const auto& array = x.array_pointer();
  if (array.use_count() != 1 || array->buffer.use_count() != 1) return false;
  // Another thread may have dropped its share just now: its reads come before our writes.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

/// The array of a tensor that is its sole owner, to be changed in place. Arrays are made by
/// `Array::allocate` and are const only to those who share them.
inline Array& owned_array(const Tensor& x) { return const_cast<Array&>(*x.array_pointer()); }

inline const Array& array_of(const Tensor& x) { return *x.array_pointer(); }

/// The first element's address; null for an array without elements.
inline std::byte* first_byte(const Array& array) {
  if (array.type.size() == 0) return nullptr;
  return array.buffer->data() + array.offset * static_cast<std::int64_t>(array.type.dtype.size());
}

inline TensorList list_of(Tensor x) {
  TensorList list;
  list.push_back(std::move(x));
  return list;
}

inline TensorList list_of(std::shared_ptr<Array> array) {
  return list_of(Tensor(std::move(array)));
}

/// The elements of `x` seen through another type, strides and offset; shares the buffer.
inline Tensor view(Tensor x, const TensorType& type, const Shape& strides, std::int64_t offset) {
  if (type.size() == 0) offset = 0;
  if (x.array_pointer().use_count() == 1) {
    std::atomic_thread_fence(std::memory_order_acquire);
    Array& array = owned_array(x);
    array.type = type;
    array.strides = strides;
    array.offset = offset;
    return x;
  }
  auto array = std::make_shared<Array>();
  array->type = type;
  array->strides = strides;
  array->offset = offset;
  array->buffer = array_of(x).buffer;
  return Tensor(std::move(array));
}

}  // namespace hom::cpu
