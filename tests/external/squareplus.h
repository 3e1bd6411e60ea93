// squareplus.h -- a primitive of one's own: squareplus x = (x + √(x² + 4)) / 2
#pragma once

#include <hom/backends/cpu/kernel.h>
#include <hom/categories/interval.h>
#include <hom/hom.h>

namespace extension {

/// (x + √(x² + 4)) / 2, elementwise, of f32 and f64: a smooth relu, never below 0 (J. Barron,
/// "Squareplus: A Softplus-Like Algebraic Rectifier", 2021).
hom::Tensor squareplus(const hom::Operand& x);

/// Declares it, says how the CPU computes it, and what bounds it.
void add_squareplus(hom::PrimitiveTable& primitives);
void add_squareplus(hom::KernelTable& kernels);
void add_squareplus(hom::categories::IntervalRules& rules);

}  // namespace extension
