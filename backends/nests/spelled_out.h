// backends/nests/spelled_out.h -- kernels as emitters spell them
#pragma once

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// The kernel, which means the same, in the form that is quickest as code of a processor:
/// reductions beside long bodies in loops of their own (sums_apart.h), products guarded together
/// (shortcuts.h), functions as what they are made of (expand_functions.h).
Kernel spelled_out(const Kernel& kernel);

}  // namespace hom::nest
