// core/tensor_inline.h -- the templates of tensor.h
#pragma once

#include <hom/core/tensor.h>

namespace hom {

template <Arithmetic Number>
Tensor::Tensor(Number value, const Location& at) : at_(at) {
  constexpr Dtype dtype = dtype_of<Number>();
  auto array = Array::allocate(TensorType{dtype, {}});
  visit(dtype, [&]<class E>() {
    if constexpr (Arithmetic<E>) *array->data<E>() = static_cast<E>(value);
  });
  array_ = std::move(array);
}

template <Arithmetic Number>
Number Tensor::item(const Location& at) const {
  const Array& elements = array(at);
  require(elements.type.size() == 1, at, [&] {
    return Complaint{"item: " + to_string(elements.type) + " has " +
                         std::to_string(elements.type.size()) + " elements, not one",
                     "use to_vector(), or index a single element first"};
  });
  return visit(elements.type.dtype,
               [&]<class E>() { return convert_element<Number>(*elements.data<E>()); });
}

template <Arithmetic Number>
std::vector<Number> Tensor::to_vector(const Location& at) const {
  static_cast<void>(array(at));
  const Tensor dense = row_major(*this);
  const Array& elements = dense.array(at);
  std::vector<Number> values(static_cast<std::size_t>(elements.type.size()));
  visit(elements.type.dtype, [&]<class E>() {
    const E* data = elements.data<E>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = convert_element<Number>(data[i]);
  });
  return values;
}

template <Element T>
Tensor tensor(const std::vector<T>& values, const Shape& shape, const Location& at) {
  require(static_cast<std::int64_t>(values.size()) == element_count(shape), at, [&] {
    return Complaint{"tensor: " + std::to_string(values.size()) + " values cannot fill shape " +
                         to_string(shape) + ", which has " + std::to_string(element_count(shape)) +
                         " elements",
                     "pass a shape whose product is the number of values"};
  });
  auto array = Array::allocate(TensorType{dtype_of<T>(), shape});
  visit(dtype_of<T>(), [&]<class E>() {
    E* data = array->data<E>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::same_as<E, T>) {
        data[i] = values[i];
      } else {
        data[i] = convert_element<E>(static_cast<T>(values[i]));
      }
    }
  });
  return Tensor(std::move(array), at);
}

template <Arithmetic T>
Tensor tensor(const std::vector<T>& values, const Location& at) {
  return tensor(values, Shape{static_cast<std::int64_t>(values.size())}, at);
}

template <Arithmetic T>
Tensor tensor(std::initializer_list<T> values, const Location& at) {
  return tensor(std::vector<T>(values), at);
}

namespace detail {
inline void require_equal_lists(std::size_t first, std::size_t other, const Location& at) {
  require(first == other, at, [&] {
    return Complaint{"tensor: nested lists of " + std::to_string(first) + " and of " +
                         std::to_string(other) + " elements",
                     "every row must have the same length"};
  });
}
}  // namespace detail

template <Arithmetic T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, const Location& at) {
  const std::size_t width = rows.size() ? rows.begin()->size() : 0;
  std::vector<T> values;
  for (const auto& row : rows) {
    detail::require_equal_lists(width, row.size(), at);
    values.insert(values.end(), row.begin(), row.end());
  }
  return tensor(
      values, Shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(width)}, at);
}

template <Arithmetic T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks,
              const Location& at) {
  const std::size_t height = blocks.size() ? blocks.begin()->size() : 0;
  const std::size_t width = height ? blocks.begin()->begin()->size() : 0;
  std::vector<T> values;
  for (const auto& block : blocks) {
    detail::require_equal_lists(height, block.size(), at);
    for (const auto& row : block) {
      detail::require_equal_lists(width, row.size(), at);
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return tensor(values,
                Shape{static_cast<std::int64_t>(blocks.size()), static_cast<std::int64_t>(height),
                      static_cast<std::int64_t>(width)},
                at);
}

template <Arithmetic T>
Tensor tensor(T value, Dtype dtype, const Location& at) {
  auto array = Array::allocate(TensorType{dtype, {}});
  visit(dtype, [&]<class E>() { *array->data<E>() = convert_element<E>(value); });
  return Tensor(std::move(array), at);
}

}  // namespace hom
