// backends/cpu/jit/x86_plan.h -- a plan as one function of machine code
#pragma once

#include <span>

#include <asmjit/x86.h>

#include <hom/backends/nests/plan.h>

namespace hom::cpu::x86 {

/// Adds the function of a plan (a `PlanFunction`) to code that has those of its kernels, in order.
/// Takes time linear in the number of instructions. Frames are plain: a call back may leave it by a
/// jump.
asmjit::Label emit_plan_function(const nest::Plan& plan, std::span<const asmjit::Label> kernels,
                                 asmjit::x86::Assembler& to);

}  // namespace hom::cpu::x86
