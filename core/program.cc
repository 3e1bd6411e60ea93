// core/program.cc -- reading and comparing programs
#include <hom/core/program.h>

#include <algorithm>

#include <hom/core/primitive.h>

namespace hom {

Step Program::step(std::size_t index) const {
  const StepRecord& record = steps_[index];
  return Step{*record.primitive,
              attributes_[record.attributes],
              std::span<const Slot>(operands_).subspan(record.operand_begin, record.operand_count),
              record.first_result,
              record.result_count,
              record.at,
              scopes_[record.scope]};
}

namespace {
std::vector<TensorType> types_of(const Program& program, const std::vector<Slot>& slots) {
  std::vector<TensorType> types;
  types.reserve(slots.size());
  for (Slot slot : slots) types.push_back(program.type(slot));
  return types;
}
}  // namespace

std::vector<TensorType> Program::input_types() const { return types_of(*this, inputs_); }
std::vector<TensorType> Program::output_types() const { return types_of(*this, outputs_); }

bool operator==(const Program& a, const Program& b) {
  if (&a == &b) return true;
  if (a.hash_ != b.hash_ || a.inputs_ != b.inputs_ || a.outputs_ != b.outputs_ ||
      a.steps_.size() != b.steps_.size() || a.operands_ != b.operands_ ||
      a.slot_count() != b.slot_count() || a.captured_.size() != b.captured_.size()) {
    return false;
  }
  for (Slot slot : a.inputs_) {
    if (a.type(slot) != b.type(slot)) return false;
  }
  for (std::size_t i = 0; i < a.captured_.size(); ++i) {
    if (a.captured_[i].array_pointer() != b.captured_[i].array_pointer()) return false;
  }
  for (std::size_t i = 0; i < a.steps_.size(); ++i) {
    const Step s = a.step(i);
    const Step t = b.step(i);
    if (&s.primitive != &t.primitive || s.first_result != t.first_result ||
        s.operands.size() != t.operands.size() || s.result_count != t.result_count ||
        s.attributes != t.attributes) {
      return false;
    }
  }
  return true;
}

std::string slot_name(const Program& program, Slot slot) {
  if (program.definition(slot) == Program::is_none) {
    // Inputs are numbered in order.
    const auto found = std::lower_bound(program.inputs().begin(), program.inputs().end(), slot);
    return program.input_names()[static_cast<std::size_t>(found - program.inputs().begin())];
  }
  return "v" + std::to_string(slot);
}

std::string derived_name(const char* prefix, const Program& program) {
  return program.name().empty() ? "" : prefix + program.name();
}

}  // namespace hom
