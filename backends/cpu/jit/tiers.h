// backends/cpu/jit/tiers.h -- code for the kernels of a plan, by what there is on this machine
#pragma once

#include <memory>

#include <hom/backends/cpu/compile_options.h>
#include <hom/backends/cpu/jit/code.h>

namespace hom::cpu {

/// Code of the tier that is asked for. `automatic` is native code; where that cannot be made, the
/// interpreter, and once for each process a line on stderr that says why. Throws `Error` where
/// `native` cannot be had.
std::shared_ptr<const Code> code_for(const nest::Plan& plan, Tier tier);

}  // namespace hom::cpu
