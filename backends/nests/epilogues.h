// backends/nests/epilogues.h -- kernels that follow a routine row by row
#pragma once

#include <hom/backends/nests/plan.h>

namespace hom::nest {

/// Hands kernels that read the rows of a routine's result in order to the routine
/// (`Call::epilogue`), where the result is larger than a cache: each panel of rows is then read
/// while it is still there. Bias, activation and residual of a layer follow its product so.
void attach_epilogues(const Plan& plan, Instructions& instructions);

}  // namespace hom::nest
