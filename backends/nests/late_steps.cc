// backends/nests/late_steps.cc -- steps that wait, and those that call for them
#include <hom/backends/nests/late_steps.h>

#include <algorithm>
#include <vector>

#include <hom/backends/nests/roles.h>
#include <hom/core/builder.h>

namespace hom::nest {
namespace {

/// Which steps wait for their user.
std::vector<bool> waiting(const Program& program) {
  std::vector<std::uint32_t> uses(program.slot_count(), 0);
  std::vector<bool> has_loops(program.slot_count(), true);
  std::vector<Role> roles(program.step_count());
  for (std::uint32_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    roles[i] = role_of(program, step);
    const bool joins = roles[i] != Role::routine && roles[i] != Role::control;
    for (const Slot operand : step.operands) {
      ++uses[operand];
      if (!joins) has_loops[operand] = false;
    }
  }
  for (const Slot output : program.outputs()) uses[output] += 2;
  std::vector<bool> waits(program.step_count(), false);
  for (std::uint32_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    if (roles[i] != Role::elementwise && roles[i] != Role::view) continue;
    if (uses[step.first_result] != 1 || !has_loops[step.first_result]) continue;
    waits[i] = std::any_of(step.operands.begin(), step.operands.end(), [&](Slot operand) {
      const std::uint32_t definition = program.definition(operand);
      return definition != Program::is_none &&
             (waits[definition] || roles[definition] == Role::routine);
    });
  }
  return waits;
}

/// Steps in their new order.
std::vector<std::uint32_t> order_of(const Program& program, const std::vector<bool>& waits) {
  std::vector<std::uint32_t> order;
  // Steps whose operands come first: on the way down, then on the way up.
  std::vector<std::pair<std::uint32_t, bool>> open;
  for (std::uint32_t i = 0; i < program.step_count(); ++i) {
    if (waits[i]) continue;
    open.emplace_back(i, false);
    while (!open.empty()) {
      const auto [index, is_ready] = open.back();
      open.pop_back();
      if (is_ready) {
        order.push_back(index);
        continue;
      }
      open.emplace_back(index, true);
      const Step step = program.step(index);
      for (std::size_t k = step.operands.size(); k-- > 0;) {
        const std::uint32_t definition = program.definition(step.operands[k]);
        if (definition != Program::is_none && waits[definition])
          open.emplace_back(definition, false);
      }
    }
  }
  return order;
}

}  // namespace

Program with_late_steps(const Program& program) {
  const std::vector<bool> waits = waiting(program);
  if (std::none_of(waits.begin(), waits.end(), [](bool waits_now) { return waits_now; }))
    return program;
  const std::vector<std::uint32_t> order = order_of(program, waits);
  if (std::is_sorted(order.begin(), order.end())) return program;
  Builder builder(Builder::Zeros::exact);
  std::vector<Slot> slots(program.slot_count());
  const std::vector<Slot> inputs = builder.add_inputs_of(program);
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[program.inputs()[i]] = inputs[i];
  std::vector<Slot> operands;
  for (const std::uint32_t index : order) {
    const Step step = program.step(index);
    operands.clear();
    for (const Slot operand : step.operands) operands.push_back(slots[operand]);
    const Slot first = builder.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) slots[step.first_result + r] = first + r;
  }
  std::vector<Slot> outputs;
  for (const Slot output : program.outputs()) outputs.push_back(slots[output]);
  return std::move(builder).finish(std::move(outputs), {program.name(), {}, {}});
}

}  // namespace hom::nest
