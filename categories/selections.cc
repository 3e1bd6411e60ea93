// categories/selections.cc -- what leads from inputs to parts, and what follows
#include <hom/categories/selections.h>

#include <algorithm>

#include <hom/core/builder.h>

namespace hom {
namespace {

/// Whether each element of the result is one of the first operand, read once.
bool selects(const Step& step) {
  const std::string& name = step.primitive.name;
  return name == "slice" || name == "reshape" || name == "transpose" || name == "gather";
}

class Splitter {
 public:
  Splitter(const Program& program, const std::vector<bool>& active, Parts wanted)
      : program_(program) {
    is_selected_.resize(program.slot_count(), false);
    const std::vector<bool> is_computed_with = computed_with();
    for (std::size_t i = 0; i < program.inputs().size(); ++i) {
      const Slot input = program.inputs()[i];
      is_selected_[input] = active[i] && program.type(input).dtype.is_float();
    }
    std::vector<bool> depends = is_selected_;
    for (std::size_t i = 0; i < program.step_count(); ++i) {
      const Step step = program.step(i);
      bool varies = false;
      for (Slot operand : step.operands) varies = varies || depends[operand];
      bool is_chosen = !step.operands.empty() && is_selected_[step.operands[0]] && selects(step);
      // Positions that vary with the inputs choose what is not known beforehand.
      for (std::size_t k = 1; k < step.operands.size(); ++k)
        is_chosen = is_chosen && !depends[step.operands[k]];
      const bool is_gather = step.primitive.name == "gather";
      if (is_chosen && program.definition(step.operands[0]) != Program::is_none) {
        // A part of what is a part itself would be read twice.
        is_chosen = wanted == Parts::smallest && !is_computed_with[step.operands[0]];
      }
      gathers_ = gathers_ || (is_chosen && is_gather);
      for (std::uint32_t r = 0; r < step.result_count; ++r) {
        depends[step.first_result + r] = varies;
        is_selected_[step.first_result + r] = is_chosen;
      }
    }
  }

  std::optional<Selections> run() const {
    if (!gathers_) return std::nullopt;
    const std::vector<Slot> parts = ends();
    Builder whole;
    std::vector<Slot> slots = copied_inputs(whole);
    std::vector<Slot> outputs;
    for (std::size_t i = 0; i < program_.step_count(); ++i) copy(whole, program_.step(i), slots);
    for (Slot part : parts) outputs.push_back(slots[part]);
    Program choice = std::move(whole).finish(outputs, {"parts_of_" + program_.name(), {}, {}});

    Builder builder;
    slots = copied_inputs(builder);
    for (Slot part : parts)
      slots[part] = builder.add_input(program_.type(part), "part" + std::to_string(part));
    for (std::size_t i = 0; i < program_.step_count(); ++i) {
      const Step step = program_.step(i);
      if (is_selected_[step.first_result] && step.result_count == 1) {
        const bool is_part = std::binary_search(parts.begin(), parts.end(), step.first_result);
        if (is_part) continue;
      }
      copy(builder, step, slots);
    }
    outputs.clear();
    for (Slot output : program_.outputs()) outputs.push_back(slots[output]);
    return Selections{std::move(choice),
                      std::move(builder).finish(outputs, {program_.name(), {}, {}}), parts.size()};
  }

 private:
  /// Slots that something else is made of than a choice.
  std::vector<bool> computed_with() const {
    std::vector<bool> is_computed_with(program_.slot_count(), false);
    for (Slot output : program_.outputs()) is_computed_with[output] = true;
    for (std::size_t i = 0; i < program_.step_count(); ++i) {
      const Step step = program_.step(i);
      for (std::size_t k = selects(step) ? 1 : 0; k < step.operands.size(); ++k)
        is_computed_with[step.operands[k]] = true;
    }
    return is_computed_with;
  }

  /// Chosen slots of which something else is made, ascending.
  std::vector<Slot> ends() const {
    std::vector<Slot> parts;
    const auto use = [&](Slot slot) {
      if (is_selected_[slot]) parts.push_back(slot);
    };
    for (std::size_t i = 0; i < program_.step_count(); ++i) {
      const Step step = program_.step(i);
      if (step.result_count == 1 && is_selected_[step.first_result]) continue;
      for (Slot operand : step.operands) use(operand);
    }
    for (Slot output : program_.outputs()) use(output);
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return parts;
  }

  std::vector<Slot> copied_inputs(Builder& builder) const {
    std::vector<Slot> slots(program_.slot_count());
    const std::vector<Slot> inputs = builder.add_inputs_of(program_);
    for (std::size_t i = 0; i < inputs.size(); ++i) slots[program_.inputs()[i]] = inputs[i];
    return slots;
  }

  void copy(Builder& builder, const Step& step, std::vector<Slot>& slots) const {
    std::vector<Slot> operands;
    for (Slot operand : step.operands) operands.push_back(slots[operand]);
    const Slot first = builder.append_step(program_, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) slots[step.first_result + r] = first + r;
  }

  const Program& program_;
  std::vector<bool> is_selected_;
  bool gathers_ = false;
};

}  // namespace

std::optional<Selections> selections(const Program& program, const std::vector<bool>& active,
                                     Parts wanted) {
  return Splitter(program, active, wanted).run();
}

}  // namespace hom
