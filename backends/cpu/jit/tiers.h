// backends/cpu/jit/tiers.h -- code for the kernels of a plan, by what there is on this machine
#pragma once

#include <memory>

#include <hom/backends/cpu/compile_options.h>
#include <hom/backends/cpu/jit/code.h>

namespace hom::cpu {

/// Code of the tier that is asked for. `automatic` and `native` are machine code made in this
/// process, and where that is refused, or $HOM_EMITTER is `c++`, what the system's compiler makes;
/// `automatic` goes on to the interpreter, and once for each process a line on stderr says why.
/// Throws `Error` where `native` or `portable` cannot be had.
std::shared_ptr<const Code> code_for(const nest::Plan& plan, Tier tier);

}  // namespace hom::cpu
