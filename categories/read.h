// categories/read.h -- the driver: a program read in any category
//
//     read(Matrices{}, program)
//
// The functor from programs, which are the free cartesian category, is fixed by what a category
// says of primitives. Each step becomes
//
//     π △ (op ∘ π′)
//
// from the environment of the slots in use to the next one, where π keeps what is needed later and
// π′ picks the operands. The steps are composed in order: nothing is visited twice, what is shared
// stays shared, and the driver does not recurse over depth. Only programs inside programs recurse:
// `call` is the arrow of its program, `cond` the category's `cond` of both arrows, and a loop is
// unrolled (categories/decomposition.h).
//
// C. Elliott, "Compiling to Categories" (2017), section 4, there from lambda terms.
#pragma once

#include <hom/categories/decomposition.h>

namespace hom::categories {

/// The slots in use between two steps of a program, as an object.
struct LiveSlots {
  std::vector<Slot> slots;

  Positions places_of(std::span<const Slot> wanted) const;
  Environment types(const Program& program) const;
  /// Positions of the slots that are used after step `index`, where `last_use` is that of
  /// `last_uses`.
  Positions needed_after(std::size_t index, const std::vector<std::size_t>& last_use) const;
};

/// For each slot the index of the last step that takes it; that of outputs is the number of steps.
std::vector<std::size_t> last_uses(const Program& program);

/// The arrow of one step, from its operands to its results.
template <Cartesian C>
typename C::Arrow read_step(const C& c, const Operation& operation);

/// The arrow of a program, from its inputs to its outputs. Throws `Error` at the line of a step
/// whose primitive the category lacks.
template <Cartesian C>
typename C::Arrow read(const C& c, const Program& program) {
  const std::vector<std::size_t> last_use = last_uses(program);
  LiveSlots live{program.inputs()};
  typename C::Arrow arrow = c.id(live.types(program));
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    const Environment environment = live.types(program);
    const Positions kept = live.needed_after(i, last_use);
    typename C::Arrow next = c.compose(read_step(c, operation_of(program, step)),
                                       c.project(environment, live.places_of(step.operands)));
    if (!kept.empty()) next = c.fork(c.project(environment, kept), next);
    arrow = c.compose(next, arrow);

    LiveSlots after;
    for (std::size_t place : kept) after.slots.push_back(live.slots[place]);
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      after.slots.push_back(step.first_result + r);
    live = std::move(after);
  }
  return c.compose(c.project(live.types(program), live.places_of(program.outputs())), arrow);
}

template <Cartesian C>
typename C::Arrow read_step(const C& c, const Operation& operation) {
  // A category may know more of a step than its decomposition does: a derivative that is given.
  if constexpr (requires { c.reads_whole(operation); }) {
    if (c.reads_whole(operation)) return c.primitive(operation);
  }
  if (const ProgramPtr program = decomposition(operation)) return read(c, *program);
  if (operation.is("barrier")) return c.id(operation.codomain());
  if (const std::string reason = c.lacks(*operation.primitive); !reason.empty())
    fail_operation(c.name(), operation, reason);
  if constexpr (Conditional<C>) {
    if (operation.is("cond")) {
      return c.cond(read(c, *operation.attributes.program("then")),
                    read(c, *operation.attributes.program("otherwise")));
    }
  }
  return c.primitive(operation);
}

}  // namespace hom::categories
