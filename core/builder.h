// core/builder.h -- builds programs: types each step, cancels what it can, and records equal steps
// once
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hom/core/primitive.h>

namespace hom {

/// A program under construction. Appending is O(1) in the number of steps so far.
class Builder {
 public:
  enum class Zeros : std::uint8_t {
    /// `scale` by a literal zero is +0, whatever the sign of the other factor: what is not wanted
    /// of a derivative disappears as it is recorded.
    unsigned_in_scale,
    /// Every rule keeps every bit: for programs that are changed after they were recorded.
    exact,
  };
  explicit Builder(Zeros zeros = Zeros::unsigned_in_scale);

  Slot add_input(const TensorType& type, std::string name);
  /// Inputs with the types and names of those of `program`.
  std::vector<Slot> add_inputs_of(const Program& program);

  /// Types and appends a step, unless it simplifies to, or equals, what is there; returns its first
  /// result (the others follow). A step without results is not recorded, and gives a slot that does
  /// not exist. Throws `Error` from the typing rule.
  Slot append(const Primitive& primitive, const Attributes& attributes,
              std::span<const Slot> operands, const Location& at, const std::string& scope);
  Slot append(const Primitive& primitive, const Attributes& attributes,
              std::initializer_list<Slot> operands, const Location& at);

  /// Types and appends a step as it stands, even where it would simplify or equals an earlier one:
  /// for readers of program texts, which have to give back the program that was written.
  Slot append_exactly(const Primitive& primitive, const Attributes& attributes,
                      std::span<const Slot> operands, const Location& at, const std::string& scope);

  /// The slot of a concrete tensor from the closure; one slot for each array.
  Slot capture(const Tensor& concrete, const Location& at);

  /// Appends a step of another program on other operands, keeping its line and name.
  Slot append_step(const Program& program, const Step& step, std::span<const Slot> operands);

  /// Appends all steps of `program`, keeping their lines and names; returns the slots of its
  /// outputs.
  std::vector<Slot> append_program(const Program& program, std::span<const Slot> inputs);

  const TensorType& type(Slot slot) const { return program_.type(slot); }
  /// The step that defines `slot`, unless it is an input.
  std::optional<Step> definition(Slot slot) const;
  /// The value of a `constant` step.
  const Attribute* literal(Slot slot) const;
  /// Whether every element is known to be 0 or −0: a literal zero, or no elements at all.
  bool is_zero(Slot slot) const;
  /// Whether `slot` is a literal equal to `value` in every element (0 is not −0).
  bool is_literal(Slot slot, double value) const;

  Zeros zeros() const { return zeros_; }
  /// Steps appended so far, those removed later included.
  std::size_t steps_built() const { return program_.steps_.size(); }
  std::size_t slot_count() const { return program_.slot_count(); }
  /// The program so far; invalidated by the next call.
  const Program& program() const { return program_; }

  struct Signature {
    std::string name = {};
    Object domain = {};
    Object codomain = {};
  };
  /// The finished program without its dead steps, and with its first `input_count` inputs only;
  /// nothing live may use the others. The builder is left empty.
  Program finish(std::vector<Slot> outputs, Signature signature,
                 std::size_t input_count = SIZE_MAX) &&;

 private:
  struct Liveness;
  Liveness liveness(const std::vector<Slot>& outputs) const;
  /// Whether nothing is dead and inputs come first, so that the program can stay as it is.
  bool is_compact(const Liveness& live, std::size_t input_count) const;
  /// The program with only what is live; renames the outputs.
  Program compacted(const Liveness& live, std::vector<Slot>& outputs, std::size_t input_count);

  std::uint32_t intern_type(const TensorType& type);
  std::uint32_t intern_attributes(const Attributes& attributes);
  std::uint32_t intern_scope(const std::string& scope);
  Slot add_slot(std::uint32_t type, std::uint32_t definition);
  Slot append_record(const Primitive& primitive, std::uint32_t attributes,
                     std::span<const Slot> operands, std::span<const std::uint32_t> result_types,
                     const Location& at, std::uint32_t scope);
  std::vector<TensorType> type_results(const Primitive& primitive, const Attributes& attributes,
                                       std::span<const Slot> operands, const Location& at) const;
  Slot append_typed(std::size_t hash, const Primitive& primitive, std::uint32_t attributes,
                    std::span<const Slot> operands, const std::vector<TensorType>& results,
                    const Location& at, const std::string& scope);
  std::uint32_t find_equal(std::size_t hash, const Primitive& primitive, std::uint32_t attributes,
                           std::span<const Slot> operands) const;
  void index_step(std::uint32_t step);

  Program program_;
  Zeros zeros_;
  // Open-addressing index of steps by hash of (primitive, attributes, operands).
  std::vector<std::uint32_t> index_;
  std::vector<std::size_t> step_hashes_;
  std::unordered_multimap<std::size_t, std::uint32_t> types_by_hash_;
  std::unordered_multimap<std::size_t, std::uint32_t> attributes_by_hash_;
  std::unordered_map<const Array*, Slot> captured_slots_;
};

}  // namespace hom
