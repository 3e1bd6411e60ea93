// core/program.h -- the free cartesian category in A-normal form: a flat list of steps over typed
// slots
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hom/core/attribute.h>
#include <hom/core/tensor.h>

namespace hom {

struct Primitive;

/// One step, `let results = primitive(attributes)(operands)`: the arrow `id △ (op ∘ projections)`
/// from an environment to a larger one. A view into a program; cheap to copy.
struct Step {
  const Primitive& primitive;
  const Attributes& attributes;
  std::span<const Slot> operands;
  /// Results are the slots `first_result` … `first_result + result_count − 1`.
  Slot first_result;
  std::uint32_t result_count;
  /// The user's line.
  const Location& at;
  /// The innermost `named` function it was recorded in, or empty.
  const std::string& scope;
};

/// A program from a product of tensors to a product of tensors. Immutable once built; made by
/// `Builder`.
///
/// Slots are numbered in order of definition. A slot is an input or a result of exactly one step;
/// steps come after the definitions of their operands. Tensors that the captured lambda had in its
/// closure are results of nullary `captured` steps, known by their buffer and never compared or
/// printed by content.
class Program {
 public:
  std::size_t step_count() const { return steps_.size(); }
  Step step(std::size_t index) const;

  std::size_t slot_count() const { return slot_types_.size(); }
  const TensorType& type(Slot slot) const { return types_[slot_types_[slot]]; }

  const std::vector<Slot>& inputs() const { return inputs_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<Slot>& outputs() const { return outputs_; }
  const std::vector<Tensor>& captured() const { return captured_; }

  /// The function's name (`named`), or empty.
  const std::string& name() const { return name_; }
  /// The arguments as one product, nested as the C++ arguments were; its leaves are the inputs in
  /// order.
  const Object& domain() const { return domain_; }
  const Object& codomain() const { return codomain_; }

  std::vector<TensorType> input_types() const;
  std::vector<TensorType> output_types() const;

  /// Marks `is_none` where a slot is an input.
  static constexpr std::uint32_t is_none = UINT32_MAX;
  /// The index of the step that defines `slot`, or `is_none`.
  std::uint32_t definition(Slot slot) const { return definitions_[slot]; }

  /// Steps appended while it was built, those removed as dead included: what construction cost.
  std::size_t steps_built() const { return steps_built_; }

  /// Structural: same steps, types, attributes, captured buffers and outputs, whatever the names
  /// and lines.
  friend bool operator==(const Program& a, const Program& b);
  std::size_t hash() const { return hash_; }

 private:
  friend class Builder;

  struct StepRecord {
    const Primitive* primitive;
    std::uint32_t attributes;
    std::uint32_t operand_begin;
    std::uint32_t operand_count;
    Slot first_result;
    std::uint32_t result_count;
    std::uint32_t scope;
    Location at;
  };

  std::vector<StepRecord> steps_;
  std::vector<Slot> operands_;
  std::vector<std::uint32_t> slot_types_;
  std::vector<std::uint32_t> definitions_;
  std::vector<TensorType> types_;
  std::vector<Attributes> attributes_;
  std::vector<std::string> scopes_;
  std::vector<Tensor> captured_;
  std::vector<Slot> inputs_;
  std::vector<std::string> input_names_;
  std::vector<Slot> outputs_;
  std::string name_;
  Object domain_;
  Object codomain_;
  std::size_t steps_built_ = 0;
  std::size_t hash_ = 0;
};

/// A throw-away label for slots in text and pictures: the input's name, or `v12`.
std::string slot_name(const Program& program, Slot slot);
/// The name of a program made from another, `d_loss`; empty where that has none.
std::string derived_name(const char* prefix, const Program& program);

}  // namespace hom
