// tests/unit/routines_support.h -- routines run on memory of the test's own
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "eager_support.h"

#include <hom/backends/cpu/arrays.h>
#include <hom/backends/cpu/routines/routine.h>

namespace hom::testing {

/// Aligned bytes between guards that a routine must leave alone.
class Guarded {
 public:
  explicit Guarded(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        memory_(static_cast<std::byte*>(operator new(bytes_ + 2 * guard, std::align_val_t{64}))) {
    std::fill_n(memory_, bytes_ + 2 * guard, std::byte{0xa5});
  }
  ~Guarded() { operator delete(memory_, std::align_val_t{64}); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::byte* data() { return memory_ + guard; }
  bool is_intact() const {
    const auto is_guard = [](std::byte byte) { return byte == std::byte{0xa5}; };
    return std::all_of(memory_, memory_ + guard, is_guard) &&
           std::all_of(memory_ + guard + bytes_, memory_ + 2 * guard + bytes_, is_guard);
  }

 private:
  static constexpr std::size_t guard = 64;
  std::size_t bytes_;
  std::byte* memory_;
};

/// A step prepared for tensors as they lie.
class Prepared {
 public:
  Prepared(const std::string& name, Attributes attributes, const std::vector<Tensor>& operands,
           const Location& at = Location::current())
      : primitive_(standard_primitives().find(name)), attributes_(std::move(attributes)) {
    std::vector<TensorType> operand_types;
    for (const Tensor& operand : operands) {
      operand_types.push_back(operand.type());
      layouts_.push_back({operand.type(), operand.array().strides});
      tensors_.push_back(operand);
      operands_.push_back(cpu::first_byte(operand.array()));
    }
    types_ = primitive_.type(Typing{primitive_, attributes_, operand_types, at});
    routine_ = cpu::routine_for(Invocation{primitive_, attributes_, types_, at}, layouts_);
  }

  const nest::Routine& routine() const { return *routine_; }
  const std::vector<TensorType>& types() const { return types_; }

  void run_into(std::span<std::byte* const> results, std::byte* scratch) const {
    routine_->run(operands_, results, scratch);
  }

  std::vector<Tensor> run() const {
    std::vector<std::unique_ptr<Guarded>> memory;
    std::vector<std::byte*> results;
    for (const TensorType& type : types_) {
      memory.push_back(
          std::make_unique<Guarded>(type.size() * static_cast<std::int64_t>(type.dtype.size())));
      results.push_back(memory.back()->data());
    }
    Guarded scratch(routine_->scratch_bytes());
    routine_->run(operands_, results, scratch.data());
    EXPECT_TRUE(scratch.is_intact()) << routine_->describe();
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      EXPECT_TRUE(memory[i]->is_intact()) << routine_->describe();
      tensors.push_back(tensor_from_bytes(results[i], types_[i]));
    }
    return tensors;
  }

  /// The only result, computed by so many rows at once.
  Tensor run_rows(std::int64_t at_once) const {
    const TensorType& type = types_[0];
    Guarded result(type.size() * static_cast<std::int64_t>(type.dtype.size()));
    Guarded scratch(routine_->scratch_bytes());
    const std::int64_t rows = type.size() / type.shape.back();
    for (std::int64_t low = 0; low < rows; low += at_once) {
      routine_->run_rows(operands_, result.data(), scratch.data(), low,
                         std::min(low + at_once, rows));
    }
    EXPECT_TRUE(scratch.is_intact() && result.is_intact()) << routine_->describe();
    return tensor_from_bytes(result.data(), type);
  }

 private:
  const Primitive& primitive_;
  Attributes attributes_;
  std::vector<Tensor> tensors_;
  std::vector<nest::Layout> layouts_;
  std::vector<const std::byte*> operands_;
  std::vector<TensorType> types_;
  std::shared_ptr<const nest::Routine> routine_;
};

}  // namespace hom::testing
