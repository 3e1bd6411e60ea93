// backends/cpu/jit/tiers.h -- code for the kernels of a plan, by whatever there is on this machine
#pragma once

#include <memory>

#include <hom/backends/cpu/jit/code.h>

namespace hom::cpu {

/// Native code, or none where it cannot be made here; `why` says what is missing.
std::shared_ptr<const Code> native_code_or_none(const nest::Plan& plan, std::string& why);

/// Native code; where there is no compiler, the interpreter, and once for each process a line on
/// stderr that says so.
std::shared_ptr<const Code> fastest_code(const nest::Plan& plan);

}  // namespace hom::cpu
