// tests/unit/emit_cpp_support.h -- kernels made by hand, run as native code on every target
#pragma once

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eager_support.h"
#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/native_code.h>

namespace hom::testing {

/// Adds nodes and statements to a kernel whose buffers and axes are known.
class KernelSketch {
 public:
  nest::Kernel kernel;

  std::uint32_t buffer(Dtype dtype, std::int64_t elements, bool is_written) {
    nest::Buffer buffer{dtype, elements};
    (is_written ? buffer.is_written : buffer.is_read) = true;
    kernel.buffers.push_back(buffer);
    return static_cast<std::uint32_t>(kernel.buffers.size() - 1);
  }
  nest::Axis axis(std::int64_t extent) {
    kernel.axes.push_back(extent);
    return static_cast<nest::Axis>(kernel.axes.size() - 1);
  }
  nest::Value node(nest::Node::Kind kind, Dtype dtype, SmallVector<nest::Value, 3> operands = {},
                   std::int64_t number = 0) {
    nest::Node node{kind, nest::Function::neg, dtype};
    node.operands = std::move(operands);
    node.number = number;
    kernel.nodes.push_back(node);
    return static_cast<nest::Value>(kernel.nodes.size() - 1);
  }
  /// Computed in a block.
  nest::Value define(nest::Block& block, nest::Node::Kind kind, Dtype dtype,
                     SmallVector<nest::Value, 3> operands, std::int64_t number = 0) {
    const nest::Value value = node(kind, dtype, std::move(operands), number);
    block.push_back({nest::Define{value}});
    return value;
  }
  nest::Value apply(nest::Block& block, nest::Function function, Dtype dtype,
                    SmallVector<nest::Value, 3> operands, std::int64_t number = 0) {
    const nest::Value value =
        define(block, nest::Node::Kind::apply, dtype, std::move(operands), number);
    kernel.nodes[value].function = function;
    return value;
  }
  nest::Value position(nest::Axis axis) { return node(nest::Node::Kind::axis, i64, {}, axis); }
  nest::Value load(nest::Block& block, std::uint32_t from, nest::Value index) {
    return define(block, nest::Node::Kind::load, kernel.buffers[from].dtype, {index}, from);
  }
};

/// Kernels that are compiled as one plan, each with its arguments and what it has to give.
class KernelBatch {
 public:
  struct Case {
    std::size_t kernel;
    std::vector<Tensor> inputs;
    /// By the eager executor.
    std::vector<Tensor> wanted;
  };

  /// The kernel's arguments are the inputs, then the results.
  void add(std::string name, nest::Kernel kernel, std::vector<Tensor> inputs,
           std::vector<Tensor> wanted) {
    kernel.name = std::move(name);
    verify(kernel);
    plan_.kernels.push_back(std::move(kernel));
    add_elements(std::move(inputs), std::move(wanted));
  }
  /// The last kernel once more.
  void add_elements(std::vector<Tensor> inputs, std::vector<Tensor> wanted) {
    cases_.push_back({plan_.kernels.size() - 1, std::move(inputs), std::move(wanted)});
  }

  /// Expects equal bits, where NaN is NaN.
  void check(const cpu::Target& target) const {
    const cpu::NativeCode native = native_code(plan_, target);
    ASSERT_NE(native.code, nullptr) << native.why_not;
    for (const Case& test : cases_) check(*native.code, test, target.name);
  }

 private:
  void check(const cpu::Code& code, const Case& test, const std::string& target) const {
    std::vector<std::byte*> arguments;
    for (const Tensor& input : test.inputs)
      arguments.push_back(reinterpret_cast<std::byte*>(input.array().buffer->data()));
    std::vector<std::shared_ptr<Array>> results;
    for (const Tensor& wanted : test.wanted) {
      results.push_back(Array::allocate(wanted.type()));
      // No result is right by not being written.
      std::memset(results.back()->buffer->data(), 0x5a, results.back()->buffer->bytes());
      arguments.push_back(results.back()->buffer->data());
    }
    cpu::FailureRecord record;
    const nest::Kernel& kernel = plan_.kernels[test.kernel];
    const auto* loop = std::get_if<nest::Loop>(&kernel.body.back().is);
    code.launch(test.kernel, arguments.data(), 0, loop == nullptr ? 0 : kernel.axes[loop->axes[0]],
                record);
    EXPECT_EQ(record.failure, 0) << kernel.name;
    for (std::size_t r = 0; r < results.size(); ++r) {
      visit(test.wanted[r].dtype(), [&]<class T>() {
        // Bits, so that the sign of 0 counts.
        ASSERT_TRUE(same<T>(*results[r], test.wanted[r]))
            << kernel.name << ", result " << r << ", " << target << "\n"
            << code.source(test.kernel);
      });
    }
  }

  template <Element T>
  static ::testing::AssertionResult same(const Array& got, const Tensor& wanted) {
    const std::vector<T> want = elements<T>(wanted);
    const T* values = reinterpret_cast<const T*>(got.buffer->data());
    for (std::size_t i = 0; i < want.size(); ++i) {
      const T wanted_element = want[i];
      if (std::memcmp(&values[i], &wanted_element, sizeof(T)) == 0) continue;
      if constexpr (dtype_of<T>().is_float()) {
        if (std::isnan(static_cast<double>(values[i])) && std::isnan(static_cast<double>(want[i])))
          continue;
      }
      return ::testing::AssertionFailure()
             << "element " << i << ": got " << static_cast<double>(values[i]) << ", want "
             << static_cast<double>(want[i]);
    }
    return ::testing::AssertionSuccess();
  }

  nest::Plan plan_;
  std::vector<Case> cases_;
};

/// A row-major tensor of random elements, whose array is its own.
template <Element T>
Tensor random_row(Random& random, const Shape& shape, T (*draw)(Random&) = random_element<T>) {
  auto array = Array::allocate(dtype_of<T>()[shape]);
  T* data = reinterpret_cast<T*>(array->buffer->data());
  for (std::int64_t i = 0; i < array->type.size(); ++i) data[i] = draw(random);
  return Tensor(std::move(array));
}

/// Names of test parameters: letters and digits.
inline std::string target_name(const ::testing::TestParamInfo<cpu::Target>& target) {
  std::string name = target.param.name;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}

}  // namespace hom::testing
