// tests/laws/random_kernel_reference.h -- what a kernel means, position by position
//
// Written for clarity, and nothing here is shared with interpreters and emitters but the scalar
// functions and the order of sums.
#pragma once

#include <functional>
#include <string>

#include <hom/backends/cpu/jit/code.h>
#include <hom/tests/laws/random_kernel.h>

namespace hom::laws {

/// Runs all of a kernel: every loop in order, every value alone. `first_failure` is the number of
/// its first failure in `record`, less one.
void run_reference(const nest::Kernel& kernel, std::byte* const* arguments,
                   cpu::FailureRecord& record, std::int64_t first_failure = 0);

/// As `cpu::Code::launch`, of one kernel.
using LaunchKernel = std::function<void(std::byte* const* arguments, std::int64_t low,
                                        std::int64_t high, cpu::FailureRecord& record)>;

/// Runs the kernel on its arguments, whole and, where it is splittable, in parts. Where arguments
/// or the record then differ from what the reference gives, says so, with the kernel's text.
std::string difference_from_reference(const KernelCase& test, const LaunchKernel& launch);

}  // namespace hom::laws
