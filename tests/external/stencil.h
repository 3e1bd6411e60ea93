// stencil.h -- a linear primitive of one's own: a weighted sum of three neighbours
#pragma once

#include <hom/backends/cpu/kernel.h>
#include <hom/hom.h>

namespace extension {

struct Weights {
  double left = 1;
  double middle = -2;
  double right = 1;
};

/// yᵢ = left·xᵢ₋₁ + middle·xᵢ + right·xᵢ₊₁ along an axis, with zeros outside; f32 and f64.
hom::Tensor stencil(const hom::Operand& x, const Weights& weights = {}, std::int64_t axis = -1);

void add_stencil(hom::PrimitiveTable& primitives);
void add_stencil(hom::KernelTable& kernels);

}  // namespace extension
