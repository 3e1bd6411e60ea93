// backends/cpu/jit/emit_plan.h -- a plan as one C++ function, so that its loops are native loops
#pragma once

#include <string>

#include <hom/backends/nests/plan.h>

namespace hom::cpu {

/// `hom_plan(buffers, host)`: all instructions of the plan. Kernels are called directly, routines
/// through the host (PlanHost in code.h).
std::string emit_plan(const nest::Plan& plan);

}  // namespace hom::cpu
