// backends/optimise/share_steps.cc -- equal steps become one, steps that nobody needs go
#include <hom/backends/optimise/everywhere.h>
#include <hom/backends/optimise/passes.h>

namespace hom::optimiser {
namespace {

/// Building shares, cancels and removes.
Program rebuilt(const Program& program) {
  Builder builder(Builder::Zeros::exact);
  std::vector<Slot> outputs = builder.append_program(program, builder.add_inputs_of(program));
  return std::move(builder).finish(std::move(outputs), signature_of(program));
}

}  // namespace

Pass share_steps() {
  return {
      "share_steps",
      "equal steps become one, steps that nobody needs go",
      [](const Program& program, const OptimiseOptions&) { return everywhere(program, rebuilt); },
      {{"one step for equal steps", "steps are pure: same operands, same results"},
       {"no step without use", "steps are pure, but for errors that nobody waits for"}}};
}

}  // namespace hom::optimiser
