// backends/optimise/hoist_invariants.cc -- what each iteration, or each branch, would compute alike
//
// Steps of a loop's body that depend on its constants alone are computed once, in front of the
// loop, and become constants of it; so are steps that both branches of a cond have in common. Steps
// that may raise stay where they are, for a loop may have no iterations; leaves and broadcasts stay
// too, for to compute them is cheaper than to keep them.
#include <algorithm>
#include <memory>

#include <hom/backends/optimise/effects.h>
#include <hom/backends/optimise/everywhere.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/vocabulary.h>

namespace hom::optimiser {
namespace {

bool is_leaf(const Step& step) { return step.operands.empty(); }
/// Not worth a place in memory by itself.
bool is_cheap(const Step& step) { return is_leaf(step) || &step.primitive == &words().broadcast; }

/// Steps of a program that move in front of it, and the slots of them that it then takes as inputs.
struct Moved {
  std::vector<Slot> slots;
  /// For each step, whether what moves needs it.
  std::vector<bool> steps;
};

/// `may_move` marks slots; the others, and the outputs, read what is moved.
Moved moved_part(const Program& program, const std::vector<bool>& may_move) {
  Moved moved{{}, std::vector<bool>(program.step_count())};
  std::vector<bool> is_wanted(program.slot_count());
  std::vector<Slot> open;
  const auto want = [&](Slot slot) {
    if (!may_move[slot] || is_wanted[slot] || program.definition(slot) == Program::is_none) return;
    is_wanted[slot] = true;
    open.push_back(slot);
  };
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    if (may_move[step.first_result]) continue;
    for (Slot slot : step.operands) want(slot);
  }
  for (Slot slot : program.outputs()) want(slot);
  while (!open.empty()) {
    const Slot slot = open.back();
    open.pop_back();
    const std::uint32_t index = program.definition(slot);
    const Step step = program.step(index);
    if (is_cheap(step)) {
      // It stays, and reads what is moved.
      for (Slot operand : step.operands) want(operand);
    } else {
      moved.slots.push_back(slot);
      moved.steps[index] = true;
    }
  }
  std::sort(moved.slots.begin(), moved.slots.end());
  for (std::size_t i = program.step_count(); i-- > 0;) {
    if (!moved.steps[i]) continue;
    for (Slot operand : program.step(i).operands) {
      const std::uint32_t definition = program.definition(operand);
      if (definition != Program::is_none) moved.steps[definition] = true;
    }
  }
  return moved;
}

/// Appends the steps that move; returns the slots that stand for `moved.slots`.
std::vector<Slot> append_moved(Builder& builder, const Program& program, const Moved& moved,
                               std::vector<Slot> slots) {
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    if (!moved.steps[i]) continue;
    const Step step = program.step(i);
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(slots[slot]);
    const Slot first = builder.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) slots[step.first_result + r] = first + r;
  }
  std::vector<Slot> results;
  for (Slot slot : moved.slots) results.push_back(slots[slot]);
  return results;
}

/// Inputs that a program ignores, because another one of the same loop or cond takes them.
struct FurtherInputs {
  std::vector<TensorType> before, after;
};
/// The program with further inputs: among them the slots that it takes instead of computing them.
Program with_inputs(const Program& program, const std::vector<Slot>& taken,
                    const FurtherInputs& others = {}) {
  Builder builder(Builder::Zeros::exact);
  std::vector<Slot> slots(program.slot_count());
  std::vector<bool> is_taken(program.slot_count());
  const std::vector<Slot> inputs = builder.add_inputs_of(program);
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[program.inputs()[i]] = inputs[i];
  std::size_t number = inputs.size();
  const auto add = [&](const TensorType& type) {
    return builder.add_input(type, "invariant" + std::to_string(number++));
  };
  for (const TensorType& type : others.before) add(type);
  for (Slot slot : taken) {
    slots[slot] = add(program.type(slot));
    is_taken[slot] = true;
  }
  for (const TensorType& type : others.after) add(type);
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(slots[slot]);
    const Slot first = builder.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) {
      if (!is_taken[step.first_result + r]) slots[step.first_result + r] = first + r;
    }
  }
  std::vector<Slot> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(slots[slot]);
  return std::move(builder).finish(std::move(outputs), {program.name(), {}, {}});
}

ProgramPtr shared(Program program) { return std::make_shared<const Program>(std::move(program)); }

std::vector<TensorType> types_of(const Program& program, const std::vector<Slot>& slots) {
  std::vector<TensorType> types;
  for (Slot slot : slots) types.push_back(program.type(slot));
  return types;
}

/// Slots of a body that depend on its inputs from `first` on alone, and may be computed in any
/// case.
std::vector<bool> invariant_slots(const Program& body, std::size_t first) {
  std::vector<bool> invariant(body.slot_count());
  for (std::size_t i = first; i < body.inputs().size(); ++i) invariant[body.inputs()[i]] = true;
  for (std::size_t i = 0; i < body.step_count(); ++i) {
    const Step step = body.step(i);
    bool all = &step.primitive != &words().barrier && !may_raise(body, step);
    for (Slot slot : step.operands) all = all && invariant[slot];
    for (std::uint32_t r = 0; r < step.result_count; ++r) invariant[step.first_result + r] = all;
  }
  return invariant;
}

/// The slots of a body where its inputs are these operands.
std::vector<Slot> slots_of_inputs(const Program& body, std::span<const Slot> operands) {
  std::vector<Slot> slots(body.slot_count());
  for (std::size_t i = 0; i < operands.size(); ++i) slots[body.inputs()[i]] = operands[i];
  return slots;
}

Slot append_again(Builder& builder, const Step& step, const Attributes& attributes,
                  std::span<const Slot> operands) {
  return builder.append(step.primitive, attributes, operands, step.at, step.scope);
}

std::optional<Slot> hoisted_scan(Builder& builder, const Step& step, std::vector<Slot> operands) {
  const Program& body = *step.attributes.program("body");
  const std::size_t constants = step.attributes.count("carries") + step.attributes.count("scanned");
  const Moved moved = moved_part(body, invariant_slots(body, constants));
  if (moved.slots.empty()) return std::nullopt;
  for (Slot slot : append_moved(builder, body, moved, slots_of_inputs(body, operands)))
    operands.push_back(slot);
  Attributes attributes = step.attributes;
  attributes.set("body", {shared(with_inputs(body, moved.slots))});
  return append_again(builder, step, attributes, operands);
}

std::optional<Slot> hoisted_while(Builder& builder, const Step& step, std::vector<Slot> operands) {
  const Program& condition = *step.attributes.program("condition");
  const Program& body = *step.attributes.program("body");
  const std::size_t carries = step.attributes.count("carries");
  const Moved of_condition = moved_part(condition, invariant_slots(condition, carries));
  const Moved of_body = moved_part(body, invariant_slots(body, carries));
  if (of_condition.slots.empty() && of_body.slots.empty()) return std::nullopt;
  std::vector<Slot> further =
      append_moved(builder, condition, of_condition, slots_of_inputs(condition, operands));
  for (Slot slot : append_moved(builder, body, of_body, slots_of_inputs(body, operands)))
    further.push_back(slot);
  operands.insert(operands.end(), further.begin(), further.end());
  Attributes attributes = step.attributes;
  attributes.set(
      "condition",
      {shared(with_inputs(condition, of_condition.slots, {{}, types_of(body, of_body.slots)}))});
  attributes.set(
      "body",
      {shared(with_inputs(body, of_body.slots, {types_of(condition, of_condition.slots), {}}))});
  return append_again(builder, step, attributes, operands);
}

/// For each slot of a program its slot in a builder that holds the other branch too.
std::vector<Slot> slots_in(Builder& builder, const Program& program,
                           const std::vector<Slot>& inputs) {
  std::vector<Slot> slots = slots_of_inputs(program, inputs);
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(slots[slot]);
    const Slot first = builder.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) slots[step.first_result + r] = first + r;
  }
  return slots;
}

std::vector<bool> marked(const std::vector<Slot>& slots, std::size_t count) {
  std::vector<bool> mask(count);
  for (Slot slot : slots) mask[slot] = true;
  return mask;
}

/// Marks the slots of one branch that the other branch has too, with all that they need. `own` are
/// its slots in the common builder.
std::vector<bool> common_slots(const Program& program, const std::vector<Slot>& own,
                               const std::vector<bool>& of_other) {
  std::vector<bool> common(program.slot_count());
  for (Slot slot : program.inputs()) common[slot] = true;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    bool all = true;
    for (Slot slot : step.operands) all = all && common[slot];
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      common[step.first_result + r] = all && of_other[own[step.first_result + r]];
  }
  return common;
}

std::optional<Slot> hoisted_cond(Builder& builder, const Step& step, std::vector<Slot> operands) {
  const Program& then = *step.attributes.program("then");
  const Program& otherwise = *step.attributes.program("otherwise");
  Builder both(Builder::Zeros::exact);
  const std::vector<Slot> inputs = both.add_inputs_of(then);
  const std::vector<Slot> first = slots_in(both, then, inputs);
  const std::vector<Slot> second = slots_in(both, otherwise, inputs);
  const Moved of_then =
      moved_part(then, common_slots(then, first, marked(second, both.slot_count())));
  const Moved of_otherwise =
      moved_part(otherwise, common_slots(otherwise, second, marked(first, both.slot_count())));
  if (of_then.slots.empty() && of_otherwise.slots.empty()) return std::nullopt;
  const std::span<const Slot> arguments = std::span<const Slot>(operands).subspan(1);
  std::vector<Slot> further =
      append_moved(builder, then, of_then, slots_of_inputs(then, arguments));
  for (Slot slot :
       append_moved(builder, otherwise, of_otherwise, slots_of_inputs(otherwise, arguments)))
    further.push_back(slot);
  operands.insert(operands.end(), further.begin(), further.end());
  Attributes attributes = step.attributes;
  attributes.set(
      "then",
      {shared(with_inputs(then, of_then.slots, {{}, types_of(otherwise, of_otherwise.slots)}))});
  attributes.set(
      "otherwise",
      {shared(with_inputs(otherwise, of_otherwise.slots, {types_of(then, of_then.slots), {}}))});
  return append_again(builder, step, attributes, operands);
}

Program hoisted(const Program& program) {
  const Vocabulary& w = words();
  bool any = false;
  for (std::size_t i = 0; i < program.step_count() && !any; ++i) {
    const Primitive* p = &program.step(i).primitive;
    any = p == &w.scan || p == &w.while_ || p == &w.cond;
  }
  if (!any) return program;
  Builder builder(Builder::Zeros::exact);
  std::vector<Slot> slots(program.slot_count());
  const std::vector<Slot> inputs = builder.add_inputs_of(program);
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[program.inputs()[i]] = inputs[i];
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(slots[slot]);
    std::optional<Slot> first;
    if (&step.primitive == &w.scan) first = hoisted_scan(builder, step, operands);
    if (&step.primitive == &w.while_) first = hoisted_while(builder, step, operands);
    if (&step.primitive == &w.cond) first = hoisted_cond(builder, step, operands);
    if (!first) first = builder.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) slots[step.first_result + r] = *first + r;
  }
  std::vector<Slot> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(slots[slot]);
  return std::move(builder).finish(std::move(outputs), signature_of(program));
}

}  // namespace

Pass hoist_invariants() {
  return {
      "hoist_invariants",
      "what each iteration, or both branches, would compute alike is computed once, in front",
      [](const Program& program, const OptimiseOptions&) { return everywhere(program, hoisted); },
      {{"scan: steps on constants alone move in front",
        "but for leaves and broadcasts, and what may raise: there may be no iteration"},
       {"while: likewise, of condition and body",
        "a loop that does not run has then computed them in vain, without a trace"},
       {"cond: steps of both branches move in front",
        "one of the two runs, so also what may raise"}}};
}

}  // namespace hom::optimiser
