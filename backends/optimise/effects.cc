// backends/optimise/effects.cc -- which steps may raise, or not come to an end
#include <hom/backends/optimise/effects.h>

#include <hom/backends/optimise/vocabulary.h>

namespace hom::optimiser {

bool may_raise(const Program& program, const Step& step) {
  const Vocabulary& w = words();
  const Primitive& p = step.primitive;
  if (!p.partial) return p.name == "reverse_only";
  if (&p == &w.gather || &p == &w.scatter || &p == &w.dynamic_slice ||
      &p == &w.dynamic_update_slice) {
    return step.attributes.string("mode") == "check";
  }
  if (&p == &w.pow) {
    const Slot exponent = step.operands[1];
    if (!program.type(exponent).dtype.is_signed_integer()) return false;
    const std::uint32_t definition = program.definition(exponent);
    if (definition == Program::is_none) return true;
    const Step known = program.step(definition);
    return &known.primitive != &w.constant ||
           number<std::int64_t>(known.attributes.get("value")) < 0;
  }
  if (&p == &w.scan) return may_raise(*step.attributes.program("body"));
  if (&p == &w.cond) {
    return may_raise(*step.attributes.program("then")) ||
           may_raise(*step.attributes.program("otherwise"));
  }
  return true;
}

bool may_raise(const Program& program) {
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    if (may_raise(program, program.step(i))) return true;
  }
  return false;
}

}  // namespace hom::optimiser
