// backends/cpu/routines/routine.h -- the steps that are not loops, each prepared as one routine
//
// Contractions and convolutions have routines of their own; every other primitive runs the kernel
// that the eager executor would run. Results are those of the eager executor bit for bit, but for
// contractions and convolutions of f32 and f64, whose sums may be added in another order: there
// |compiled − exact| ≤ K·ε·Σ|aₖbₖ| for each element, of K terms, ε the machine epsilon.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <hom/backends/nests/plan.h>
#include <hom/core/executor.h>

namespace hom::cpu {

/// The routine of one step, for operands that lie like this: strides count elements and may be 0 or
/// negative; the address of the first element is given when it runs. Results are row-major. Steps
/// are those of primitives with a kernel in `cpu_kernels()` now, and of those that run themselves
/// (`Primitive::run`); throws `Error` for others, naming the primitive. Refers to the primitive,
/// which lives as long as a table that ever held it.
std::shared_ptr<const nest::Routine> routine_for(const Invocation& step,
                                                 std::span<const nest::Layout> operands);

/// Whether the routine reads the operand as it lies; otherwise it wants a row-major one. A
/// contraction takes every layout: what it cannot walk it copies itself, in the order in which it
/// is read.
bool takes_layout(const Invocation& step, std::size_t operand, const nest::Layout& layout);

}  // namespace hom::cpu
