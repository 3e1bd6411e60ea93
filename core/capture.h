// core/capture.h -- programs being captured on this thread: nesting, captured operands, leaks
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <hom/core/builder.h>
#include <hom/core/executor.h>

namespace hom {

/// A finished capture: what the body used of enclosing captures has become explicit operands
/// (closure conversion), which are the program's last inputs.
struct Closure {
  Program program;
  std::vector<Tensor> captured_operands;
};

/// While it lives, operations on symbols of this thread append steps to its program. Captures nest.
class Capture {
 public:
  explicit Capture(const Location& at);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// The innermost capture of this thread, or null.
  static Capture* current();
  /// The capture of this thread that `symbol` belongs to, or null.
  static Capture* of(const Tensor& symbol);

  Tensor input(const TensorType& type, std::string name);
  /// An input of each type: x0, x1, … unless they are named.
  std::vector<Tensor> inputs(std::span<const TensorType> types,
                             std::span<const std::string> names = {});
  /// The slot of `x` in this capture: an own symbol, a concrete tensor, or a symbol of an enclosing
  /// capture, which becomes a captured operand. Throws for empty, leaked and foreign symbols.
  Slot slot_of(const Tensor& x, const Location& at);
  Tensor symbol(Slot slot, const Location& at) const { return Tensor(id_, slot, at); }

  Builder& builder() { return builder_; }
  std::uint64_t id() const { return id_; }

  /// Ends the capture with these outputs.
  Closure finish(std::span<const Tensor> outputs, Builder::Signature signature, const Location& at);

 private:
  Builder builder_;
  std::uint64_t id_;
  Location at_;
  Capture* enclosing_;
  std::vector<Tensor> outer_operands_;
  std::map<std::pair<std::uint64_t, Slot>, Slot> outer_slots_;
};

/// Throws the error for a symbol that no capture of this thread owns.
[[noreturn]] void fail_leaked(const Tensor& symbol, const Location& at);

/// Applies a primitive: on concrete operands at once, otherwise as a step of the capture in
/// progress. A primitive without operands is recorded where a capture is in progress.
TensorList apply(const Primitive& primitive, const Attributes& attributes,
                 std::span<const Tensor> operands, const Location& at);
/// The same for a primitive with one result.
Tensor apply_one(const Primitive& primitive, const Attributes& attributes,
                 std::initializer_list<Tensor> operands, const Location& at);
/// The same with operands that are given away: a concrete one that nobody else holds may be
/// overwritten.
TensorList apply_in_place(const Primitive& primitive, const Attributes& attributes,
                          TensorList operands, const Location& at);

/// Applies a program: evaluates it on concrete inputs, otherwise appends its steps to the capture
/// in progress.
std::vector<Tensor> apply(const Program& program, std::span<const Tensor> inputs,
                          const Location& at);

}  // namespace hom
