// rms_norm.h -- a composite of one's own: a decomposition, and a kernel for its name
#pragma once

#include <hom/backends/cpu/kernel.h>
#include <hom/hom.h>

namespace extension {

/// x / √(mean x² + 10⁻⁶) along the last axis.
hom::Tensor rms_norm(const hom::Operand& x);

/// In two passes over each row, of f32 and f64.
void add_rms_norm(hom::KernelTable& kernels);
/// How often the kernel has run.
int rms_norm_kernel_runs();

}  // namespace extension
