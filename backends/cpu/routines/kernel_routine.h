// backends/cpu/routines/kernel_routine.h -- a step by its eager kernel, on memory of a plan
#pragma once

#include <memory>
#include <span>

#include <hom/backends/nests/plan.h>
#include <hom/core/executor.h>

namespace hom::cpu {

/// Runs the kernel on tensors that show the operands where they are, and copies its results to
/// their places. The kernel's arrays use the memory of the arrays of former runs (`BufferReuse`).
/// Throws `Error` where the primitive has no kernel in `cpu_kernels()`; when it runs, for the
/// user's mistakes, on the step's line, and where a kernel of the user's gives results of other
/// types.
std::shared_ptr<const nest::Routine> kernel_routine(const Invocation& step,
                                                    std::span<const nest::Layout> operands);

}  // namespace hom::cpu
