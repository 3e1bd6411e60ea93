// tests/laws/random_kernel_values.cc -- values, indices and loads of random kernels
#include <algorithm>
#include <cstring>

#include <hom/backends/nests/nest_functions.h>
#include <hom/tests/laws/random_kernel_drawing.h>

namespace hom::laws {

using nest::Function;
using nest::Node;

// ---- nodes and where they are computed ----

nest::Value KernelDrawing::add(Node node) {
  for (Value i = 0; i < kernel_.nodes.size(); ++i) {
    const Node& old = kernel_.nodes[i];
    if (old.kind == node.kind && old.function == node.function && old.dtype == node.dtype &&
        old.operands == node.operands && old.number == node.number)
      return i;
  }
  kernel_.nodes.push_back(std::move(node));
  known_.push_back(false);
  return static_cast<Value>(kernel_.nodes.size() - 1);
}

bool KernelDrawing::is_known(Value value) const {
  const Node& node = kernel_.nodes[value];
  return node.kind == Node::Kind::constant || node.kind == Node::Kind::axis || known_[value];
}

void KernelDrawing::learn(Value value) {
  known_[value] = true;
  scope_.push_back(value);
}

nest::Value KernelDrawing::placed(Node node) {
  const Value value = add(std::move(node));
  if (!is_known(value)) {
    block_->push_back({nest::Define{value}});
    learn(value);
  }
  return value;
}

nest::Value KernelDrawing::apply(Function function, Dtype dtype, SmallVector<Value, 3> operands,
                                 std::int64_t number) {
  return placed({Node::Kind::apply, function, dtype, std::move(operands), number});
}

// ---- values ----

nest::Value KernelDrawing::constant(Dtype dtype) {
  const Tensor one =
      random_tensor(dtype[{}], choices_.one_in(3) ? Domain::wild : Domain::tame, choices_);
  std::int64_t bits = 0;
  std::memcpy(&bits, one.array().buffer->data() + one.array().offset * dtype.size(), dtype.size());
  return add({Node::Kind::constant, {}, dtype, {}, bits});
}

nest::Value KernelDrawing::index_constant(std::int64_t number) {
  return add({Node::Kind::constant, {}, i64, {}, number});
}

nest::Value KernelDrawing::axis(Axis axis) {
  return add({Node::Kind::axis, {}, i64, {}, static_cast<std::int64_t>(axis)});
}

std::optional<nest::Value> KernelDrawing::known_value(Dtype dtype) {
  std::vector<Value> candidates;
  for (const Value value : scope_) {
    if (kernel_.nodes[value].dtype == dtype) candidates.push_back(value);
  }
  if (candidates.empty()) return std::nullopt;
  return choices_.among(candidates);
}

nest::Value KernelDrawing::value(Dtype dtype, int depth) {
  const std::int64_t kind = choices_.below(12);
  if (kind < 4) {
    if (const auto known = known_value(dtype)) return *known;
  }
  if (kind == 4) return constant(dtype);
  if (kind == 5 || depth <= 0) return load(dtype);
  if (kind == 6) return converted(dtype, depth);
  if (kind == 7 && dtype == i64 && !open_.empty()) return index_value();
  if (kind == 8) {
    return apply(Function::select, dtype,
                 {value(bool_, depth - 1), value(dtype, depth - 1), value(dtype, depth - 1)});
  }
  return function_value(dtype, depth);
}

nest::Value KernelDrawing::function_value(Dtype dtype, int depth) {
  while (true) {
    const auto function =
        static_cast<Function>(choices_.below(static_cast<std::int64_t>(nest::function_count)));
    if (function == Function::select) continue;
    const Dtype operand = nest::is_test(function) ? this->dtype() : dtype;
    if (!nest::takes(function, operand) || (nest::is_test(function) && !dtype.is_bool())) continue;
    if (nest::cost_of(function) >= 300 && (!wish_.slow_functions || iterations() > 300)) continue;
    std::int64_t number = 0;
    if (function == Function::polygamma) number = choices_.below(3);
    if (function == Function::log_gamma_slope) number = choices_.between(1, 2);
    SmallVector<Value, 3> operands;
    for (int i = 0; i < nest::arity_of(function); ++i)
      operands.push_back(value(operand, depth - 1));
    return apply(function, dtype, std::move(operands), number);
  }
}

nest::Value KernelDrawing::index_value() {
  return choices_.one_in(2) ? affine_with_quotients().value : anywhere().value;
}

/// Bits of loaded elements only: which NaN a function gives is not said.
nest::Value KernelDrawing::converted(Dtype dtype, int depth) {
  const Dtype from = choices_.one_in(2) ? this->dtype() : choices_.among(all_dtypes);
  if (from == dtype) return load(dtype);
  if (from.size() == dtype.size() && choices_.one_in(2))
    return placed({Node::Kind::bitcast, {}, dtype, {load(from)}});
  return placed({Node::Kind::convert, {}, dtype, {value(from, depth - 1)}});
}

// ---- indices ----

KernelDrawing::Index KernelDrawing::affine(const std::vector<Step>& steps) {
  std::int64_t largest = 0;
  std::int64_t offset = choices_.one_in(5) ? choices_.below(4) : 0;
  std::optional<Value> sum;
  for (const Step& step : steps) {
    const std::int64_t range = step.stride * (kernel_.axes[step.axis] - 1);
    largest += std::max<std::int64_t>(range, 0);
    offset += std::max<std::int64_t>(-range, 0);
    Value term = axis(step.axis);
    if (step.stride != 1) term = placed({Node::Kind::index_scale, {}, i64, {term}, step.stride});
    sum = sum ? placed({Node::Kind::index_add, {}, i64, {*sum, term}}) : term;
  }
  if (!sum) return {index_constant(offset), offset};
  if (offset != 0) sum = placed({Node::Kind::index_add, {}, i64, {*sum, index_constant(offset)}});
  return {*sum, largest + offset};
}

KernelDrawing::Index KernelDrawing::affine_with_quotients() {
  Index index = anywhere();
  const std::int64_t divisor = choices_.between(1, 9);
  if (choices_.one_in(2)) {
    return {placed({Node::Kind::index_quotient, {}, i64, {index.value}, divisor}),
            index.largest / divisor};
  }
  return {placed({Node::Kind::index_remainder, {}, i64, {index.value}, divisor}),
          std::min(index.largest, divisor - 1)};
}

KernelDrawing::Index KernelDrawing::injective() {
  std::vector<Axis> order(open_.begin(), open_.end());
  if (choices_.one_in(3)) {
    for (std::size_t i = order.size(); i > 1; --i) {
      const auto other = static_cast<std::size_t>(choices_.below(static_cast<std::int64_t>(i)));
      std::swap(order[i - 1], order[other]);
    }
  }
  std::vector<Step> steps(order.size());
  std::int64_t stride = choices_.one_in(5) ? 2 : 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    steps[i] = {order[i], choices_.one_in(6) ? -stride : stride};
    stride *= kernel_.axes[order[i]];
  }
  return affine(steps);
}

KernelDrawing::Index KernelDrawing::anywhere() {
  if (choices_.one_in(2)) return injective();
  std::vector<Step> steps;
  for (const Axis axis : open_) {
    constexpr std::int64_t strides[] = {0, 1, 1, 1, 2, 3, -1, 17};
    if (const std::int64_t stride = choices_.among(strides)) steps.push_back({axis, stride});
  }
  return affine(steps);
}

KernelDrawing::Index KernelDrawing::selected() {
  constexpr Dtype dtypes[] = {i8, i32, i32, i64, i64, u8, u32, u64};
  const std::int64_t extent = choices_.between(1, 40);
  const bool is_inside = choices_.one_in(2);
  const Dtype dtype = choices_.among(dtypes);
  Value position = load(add_buffer(dtype, {extent, is_inside}), anywhere());
  if (dtype != i64) position = placed({Node::Kind::convert, {}, i64, {position}});
  const Value first = index_constant(0);
  const Value last = index_constant(extent - 1);
  std::optional<Value> when;
  const std::int64_t mode = choices_.below(3);
  if (mode > 0) {
    when = apply(Function::and_, bool_,
                 {apply(Function::ge, bool_, {position, first}),
                  apply(Function::le, bool_, {position, last})});
  }
  if (mode == 2) {
    const auto failure = static_cast<std::uint32_t>(kernel_.failures.size());
    kernel_.failures.push_back({failure, 0});
    block_->push_back({nest::Check{*when, position, failure}});
  }
  if (mode == 0) {
    position = apply(Function::max, i64, {first, apply(Function::min, i64, {position, last})});
  }
  if (choices_.one_in(2)) return {position, extent - 1, when};
  // A row of several elements.
  const Index inner = anywhere();
  const Value row = placed({Node::Kind::index_scale, {}, i64, {position}, inner.largest + 1});
  return {placed({Node::Kind::index_add, {}, i64, {row, inner.value}}),
          extent * (inner.largest + 1) - 1, when};
}

// ---- loads ----

std::uint32_t KernelDrawing::add_buffer(Dtype dtype, Content content) {
  kernel_.buffers.push_back({.dtype = dtype, .elements = 1});
  contents_.push_back(content);
  return static_cast<std::uint32_t>(kernel_.buffers.size() - 1);
}

void KernelDrawing::reach(std::uint32_t buffer, std::int64_t largest) {
  std::int64_t& elements = kernel_.buffers[buffer].elements;
  elements = std::max(elements, largest + 1);
}

nest::Value KernelDrawing::load(std::uint32_t buffer, const Index& index) {
  reach(buffer, index.largest);
  kernel_.buffers[buffer].is_read = true;
  Node node{Node::Kind::load, {}, kernel_.buffers[buffer].dtype, {index.value}, buffer};
  if (index.when) node.operands.push_back(*index.when);
  return placed(std::move(node));
}

nest::Value KernelDrawing::load(Dtype dtype) {
  std::vector<std::uint32_t> there;
  for (std::uint32_t i = 0; i < kernel_.buffers.size(); ++i) {
    const nest::Buffer& buffer = kernel_.buffers[i];
    if (buffer.dtype == dtype && buffer.is_read && !buffer.is_written && contents_[i].positions < 0)
      there.push_back(i);
  }
  const std::uint32_t buffer =
      there.empty() || choices_.one_in(3) ? add_buffer(dtype, {}) : choices_.among(there);
  // It is read before its index is drawn, which may read buffers too.
  kernel_.buffers[buffer].is_read = true;
  const std::int64_t kind = choices_.below(8);
  if (kind == 0) return load(buffer, selected());
  if (kind == 1) return load(buffer, affine_with_quotients());
  if (kind > 2) return load(buffer, anywhere());
  // Padding: the element two places before, and zero where there is none.
  const Index index = anywhere();
  const Value before = placed({Node::Kind::index_add, {}, i64, {index.value, index_constant(-2)}});
  const Value when = apply(Function::ge, bool_, {before, index_constant(0)});
  return load(buffer, {before, std::max<std::int64_t>(index.largest - 2, 0), when});
}

}  // namespace hom::laws
