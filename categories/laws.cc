// categories/laws.cc -- programs cut in pieces
#include <hom/categories/laws.h>

#include <algorithm>

#include <hom/core/builder.h>
#include <hom/core/executor.h>

namespace hom::categories {
namespace {

/// Copies the steps `from` … `to` − 1 onto the given slots, and returns where the wanted ones went.
Program part(const Program& program, const std::vector<Slot>& inputs, std::size_t from,
             std::size_t to, const std::vector<Slot>& outputs) {
  Builder builder;
  std::vector<Slot> moved(program.slot_count());
  for (Slot slot : inputs) moved[slot] = builder.add_input(program.type(slot), "x");
  for (std::size_t i = from; i < to; ++i) {
    const Step step = program.step(i);
    std::vector<Slot> operands;
    for (Slot slot : step.operands) operands.push_back(moved[slot]);
    const Slot first = builder.append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) moved[step.first_result + r] = first + r;
  }
  std::vector<Slot> results;
  for (Slot slot : outputs) results.push_back(moved[slot]);
  return std::move(builder).finish(std::move(results), {});
}

}  // namespace

std::pair<Program, Program> cut(const Program& program, std::size_t steps) {
  const std::vector<std::size_t> last_use = last_uses(program);
  std::vector<Slot> between;
  for (Slot slot = 0; slot < program.slot_count(); ++slot) {
    const std::uint32_t definition = program.definition(slot);
    const bool defined = definition == Program::is_none || definition < steps;
    // What is used later, and what is never used: an input, or a result beside others.
    if (defined && last_use[slot] >= steps) between.push_back(slot);
  }
  return {part(program, program.inputs(), 0, steps, between),
          part(program, between, steps, program.step_count(), program.outputs())};
}

Chain chain_of(const Program& whole, std::size_t first, std::size_t second, const Tensors& inputs) {
  ensure(first <= second && second <= whole.step_count(), "a program is cut between its steps");
  Chain chain;
  chain.whole = whole;
  auto [f, rest] = cut(whole, first);
  // What equals an earlier step is not copied, so that the rest may be shorter.
  auto [g, h] = cut(rest, std::min(second - first, rest.step_count()));
  chain.a = inputs;
  chain.b = evaluate(f, chain.a);
  chain.c = evaluate(g, chain.b);
  chain.d = evaluate(h, chain.c);
  chain.f = std::move(f);
  chain.g = std::move(g);
  chain.h = std::move(h);
  return chain;
}

}  // namespace hom::categories
