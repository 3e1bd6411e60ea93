// tests/unit/nest_support.h -- kernels written by hand
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::testing {

using nest::Axis;
using nest::Block;
using nest::Carry;
using nest::Check;
using nest::Combine;
using nest::Define;
using nest::Function;
using nest::Kernel;
using nest::Loop;
using nest::Node;
using nest::Reduction;
using nest::Store;
using nest::Value;

/// A kernel whose nodes are added one by one.
struct KernelDraft {
  Kernel kernel;

  Value add(Node node) {
    kernel.nodes.push_back(std::move(node));
    return static_cast<Value>(kernel.nodes.size() - 1);
  }

  std::uint32_t buffer(Dtype dtype, std::int64_t elements, bool is_read, bool is_written,
                       std::string label = "") {
    kernel.buffers.push_back({dtype, elements, is_read, is_written, false, std::move(label)});
    return static_cast<std::uint32_t>(kernel.buffers.size() - 1);
  }
  std::uint32_t input(Dtype dtype, std::int64_t elements, std::string label = "") {
    return buffer(dtype, elements, true, false, std::move(label));
  }
  std::uint32_t output(Dtype dtype, std::int64_t elements, std::string label = "") {
    return buffer(dtype, elements, false, true, std::move(label));
  }
  std::uint32_t local(Dtype dtype, std::int64_t elements, std::string label = "") {
    const std::uint32_t number = buffer(dtype, elements, true, true, std::move(label));
    kernel.buffers[number].is_local = true;
    return number;
  }
  /// The position along a new axis.
  Value axis(std::int64_t extent) {
    kernel.axes.push_back(extent);
    return add({Node::Kind::axis, {}, i64, {}, static_cast<std::int64_t>(kernel.axes.size() - 1)});
  }

  template <Element T>
  Value constant(T value) {
    std::int64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return add({Node::Kind::constant, {}, dtype_of<T>(), {}, bits});
  }
  Value index(std::int64_t number) { return constant(number); }
  Value load(std::uint32_t buffer, Value index) {
    return add({Node::Kind::load, {}, kernel.buffers[buffer].dtype, {index}, buffer});
  }
  Value load_where(std::uint32_t buffer, Value index, Value when) {
    return add({Node::Kind::load, {}, kernel.buffers[buffer].dtype, {index, when}, buffer});
  }
  Value apply(Function function, SmallVector<Value, 3> operands) {
    const bool is_test = function >= Function::eq && function <= Function::ge;
    const Dtype dtype = is_test ? bool_ : kernel.nodes[operands.back()].dtype;
    return add({Node::Kind::apply, function, dtype, std::move(operands)});
  }
  Value convert(Dtype dtype, Value value) { return add({Node::Kind::convert, {}, dtype, {value}}); }
  Value plus(Value a, Value b) { return add({Node::Kind::index_add, {}, i64, {a, b}}); }
  Value times(Value a, std::int64_t factor) {
    return add({Node::Kind::index_scale, {}, i64, {a}, factor});
  }
  Value reduced(Dtype dtype) {
    return add(
        {Node::Kind::reduced, {}, dtype, {}, static_cast<std::int64_t>(kernel.nodes.size())});
  }
  Value carried(Dtype dtype) {
    return add(
        {Node::Kind::carried, {}, dtype, {}, static_cast<std::int64_t>(kernel.nodes.size())});
  }
};

/// The computation of these values, in order.
inline Block define(const std::vector<Value>& values) {
  Block block;
  for (const Value value : values) block.push_back({Define{value}});
  return block;
}

inline Block operator+(Block block, nest::Statement next) {
  block.push_back(std::move(next));
  return block;
}
inline nest::Statement set(std::uint32_t buffer, Value index, Value value) {
  return {Store{buffer, index, value}};
}
inline nest::Statement combine(std::uint32_t buffer, Value index, Value value, Combine combine) {
  return {Store{buffer, index, value, combine}};
}
inline nest::Statement loop(SmallVector<Axis, 4> axes, Block body,
                            std::vector<Reduction> reductions = {}) {
  return {
      Loop{.axes = std::move(axes), .reductions = std::move(reductions), .body = std::move(body)}};
}

/// Each row of a matrix x less its largest element, exponentiated, and divided by the sum of its
/// row: one kernel, vectorised along the rows.
inline Kernel softmax(std::int64_t rows, std::int64_t columns) {
  KernelDraft d;
  d.kernel.name = "softmax";
  const auto x = d.input(f32, rows * columns, "x");
  const auto y = d.output(f32, rows * columns, "y");
  const Value row = d.axis(rows);
  const Value column = d.axis(columns);
  const Value start = d.times(row, columns);
  const Value index = d.plus(start, column);
  const Value element = d.load(x, index);
  const Value largest = d.reduced(f32);
  const Value shifted = d.apply(Function::sub, {element, largest});
  const Value power = d.apply(Function::exp, {shifted});
  const Value sum = d.reduced(f32);
  const Value result = d.apply(Function::div, {power, sum});
  const Block powers = define({index, element, shifted, power});
  d.kernel.body = {
      loop({0}, define({start}) +
                    loop({1}, define({index, element}), {{Combine::max, element, largest}}) +
                    loop({1}, powers, {{Combine::sum, power, sum}}) +
                    loop({1}, powers + nest::Statement{Define{result}} + set(y, index, result)))};
  d.kernel.vector_axis = 1;
  d.kernel.is_splittable = true;
  return d.kernel;
}

}  // namespace hom::testing
