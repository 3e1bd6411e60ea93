// tests/laws/plan_reference.h -- what a plan means, instruction by instruction
#pragma once

#include <string>
#include <vector>

#include <hom/backends/cpu/jit/code.h>
#include <hom/backends/nests/lower.h>

namespace hom::laws {

/// Outputs of a plan for these inputs, with a buffer of its own for every buffer of the plan and
/// every kernel run position by position (random_kernel_reference.h). `record` is the first failed
/// check.
std::vector<Tensor> run_reference(const nest::Plan& plan, const std::vector<Tensor>& inputs,
                                  cpu::FailureRecord& record);

/// Options whose routines run the eager kernels, so that nothing but loops can differ from them.
nest::LowerOptions eager_routines();

}  // namespace hom::laws
