// backends/optimise/effects.h -- which steps may raise, or not come to an end
#pragma once

#include <hom/core/builder.h>

namespace hom::optimiser {

/// Whether a step of `program` may raise when it runs, or not terminate: such a step is removed
/// where nobody needs it, as every executor does, but never run where the program would not.
bool may_raise(const Program& program, const Step& step);
bool may_raise(const Program& program);

}  // namespace hom::optimiser
