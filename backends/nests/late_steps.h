// backends/nests/late_steps.h -- what is made of a routine's result, where it is used
#pragma once

#include <hom/core/program.h>

namespace hom::nest {

/// The same program in another order: an elementwise step of what a routine computes (a matrix
/// product, scaled) stands right before the only step that takes it, if that is not a routine too.
/// So it is in the loops of that step, even where these need something that was computed in
/// between. Programs inside stay as they are.
Program with_late_steps(const Program& program);

}  // namespace hom::nest
