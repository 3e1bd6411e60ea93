// backends/optimise/everywhere.cc -- passes over the programs inside loops and branches
#include <hom/backends/optimise/everywhere.h>

#include <unordered_map>
#include <unordered_set>

namespace hom::optimiser {
namespace {

/// The programs in the attributes of one step.
std::vector<ProgramPtr> programs_of(const Attributes& attributes) {
  std::vector<ProgramPtr> programs;
  for (const auto& [name, attribute] : attributes) {
    if (const auto* program = std::get_if<ProgramPtr>(&attribute.value))
      programs.push_back(*program);
  }
  return programs;
}

std::vector<ProgramPtr> programs_in_steps(const Program& program) {
  std::vector<ProgramPtr> programs;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    if (program.step(i).attributes.empty()) continue;
    for (ProgramPtr& inside : programs_of(program.step(i).attributes))
      programs.push_back(std::move(inside));
  }
  return programs;
}

}  // namespace

std::vector<ProgramPtr> programs_inside(const Program& program) {
  struct Visit {
    ProgramPtr program;
    std::vector<ProgramPtr> inside;
    std::size_t next = 0;
  };
  std::vector<ProgramPtr> order;
  std::unordered_set<const Program*> seen;
  std::vector<Visit> stack;
  stack.push_back({nullptr, programs_in_steps(program)});
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next < top.inside.size()) {
      ProgramPtr inner = top.inside[top.next++];
      if (!seen.insert(inner.get()).second) continue;
      std::vector<ProgramPtr> inside = programs_in_steps(*inner);
      stack.push_back({std::move(inner), std::move(inside)});
      continue;
    }
    if (top.program) order.push_back(std::move(top.program));
    stack.pop_back();
  }
  return order;
}

Attributes with_programs(const Attributes& attributes,
                         const std::function<ProgramPtr(const ProgramPtr&)>& replacement) {
  Attributes changed = attributes;
  for (const auto& [name, attribute] : attributes) {
    if (const auto* program = std::get_if<ProgramPtr>(&attribute.value))
      changed.set(name, {replacement(*program)});
  }
  return changed;
}

Builder::Signature signature_of(const Program& program) {
  return {program.name(), program.domain(), program.codomain()};
}

namespace {

using Replacements = std::unordered_map<const Program*, ProgramPtr>;

/// The program with the programs inside replaced.
Program replaced(const Program& program, const Replacements& replacements) {
  Builder builder(Builder::Zeros::exact);
  std::vector<Slot> slots(program.slot_count());
  const std::vector<Slot> inputs = builder.add_inputs_of(program);
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[program.inputs()[i]] = inputs[i];
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(slots[slot]);
    const Slot first = programs_of(step.attributes).empty()
                           ? builder.append_step(program, step, operands)
                           : builder.append(step.primitive,
                                            with_programs(step.attributes,
                                                          [&](const ProgramPtr& inside) {
                                                            return replacements.at(inside.get());
                                                          }),
                                            operands, step.at, step.scope);
    for (std::uint32_t r = 0; r < step.result_count; ++r) slots[step.first_result + r] = first + r;
  }
  std::vector<Slot> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(slots[slot]);
  return std::move(builder).finish(std::move(outputs), signature_of(program));
}

bool has_changed_inside(const Program& program, const Replacements& replacements) {
  for (const ProgramPtr& inside : programs_in_steps(program)) {
    if (replacements.at(inside.get()) != inside) return true;
  }
  return false;
}

}  // namespace

Program everywhere(const Program& program, const std::function<Program(const Program&)>& pass) {
  Replacements replacements;
  const auto passed = [&](const Program& p) {
    return has_changed_inside(p, replacements) ? pass(replaced(p, replacements)) : pass(p);
  };
  for (const ProgramPtr& inside : programs_inside(program)) {
    Program result = passed(*inside);
    replacements.emplace(inside.get(), result == *inside
                                           ? inside
                                           : std::make_shared<const Program>(std::move(result)));
  }
  return passed(program);
}

}  // namespace hom::optimiser
