// backends/optimise/loop_parts.cc -- the programs inside loops and branches, taken apart and
// rebuilt
#include <hom/backends/optimise/loop_parts.h>

#include <algorithm>
#include <unordered_map>

#include <hom/backends/optimise/vocabulary.h>
#include <hom/core/primitives/rules.h>

namespace hom::optimiser {

Program rebuilt_body(const Program& body, const std::vector<Source>& sources,
                     const std::vector<std::size_t>& order, const std::vector<Slot>& outputs,
                     const Location& at) {
  Builder builder(Builder::Zeros::exact);
  std::vector<Slot> slots(body.slot_count());
  const auto input = [&](std::size_t i) { return body.inputs()[i]; };
  for (std::size_t i : order)
    slots[input(i)] = builder.add_input(body.type(input(i)), body.input_names()[i]);
  std::vector<bool> is_absent(body.slot_count());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].kind == Source::Kind::literal) {
      slots[input(i)] = append_literal(builder, sources[i].value, body.type(input(i)), at, "");
    }
    is_absent[input(i)] = sources[i].kind == Source::Kind::none;
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].kind == Source::Kind::same) slots[input(i)] = slots[input(sources[i].other)];
  }
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < body.step_count(); ++i) {
    const Step step = body.step(i);
    operands.clear();
    bool absent = false;
    for (Slot slot : step.operands) {
      operands.push_back(slots[slot]);
      absent = absent || is_absent[slot];
    }
    // What needs an input that is gone is not needed either.
    const Slot first = absent ? 0 : builder.append_step(body, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) {
      slots[step.first_result + r] = first + r;
      is_absent[step.first_result + r] = absent;
    }
  }
  std::vector<Slot> results;
  for (Slot slot : outputs) {
    ensure(!is_absent[slot], "rebuilt_body: an output needs an input that is left out");
    results.push_back(slots[slot]);
  }
  return std::move(builder).finish(std::move(results), {body.name(), {}, {}});
}

std::vector<bool> needed_inputs(const Program& body, const std::vector<bool>& wanted,
                                std::size_t carries) {
  std::unordered_map<Slot, std::size_t> input_numbers;
  for (std::size_t i = 0; i < body.inputs().size(); ++i) input_numbers.emplace(body.inputs()[i], i);
  std::vector<bool> needed(body.slot_count());
  std::vector<bool> inputs(body.inputs().size());
  std::vector<Slot> open;
  const auto need = [&](Slot slot) {
    if (!needed[slot]) open.push_back(slot);
    needed[slot] = true;
  };
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (wanted[k]) need(body.outputs()[k]);
  }
  while (!open.empty()) {
    const Slot slot = open.back();
    open.pop_back();
    const std::uint32_t step = body.definition(slot);
    if (step != Program::is_none) {
      for (Slot operand : body.step(step).operands) need(operand);
      continue;
    }
    const std::size_t i = input_numbers.at(slot);
    inputs[i] = true;
    if (i < carries) need(body.outputs()[i]);
  }
  return inputs;
}

std::optional<Attribute> literal_in(const Program& program, Slot slot) {
  const std::uint32_t step = program.definition(slot);
  if (step == Program::is_none || &program.step(step).primitive != &words().constant)
    return std::nullopt;
  return program.step(step).attributes.get("value");
}

}  // namespace hom::optimiser
