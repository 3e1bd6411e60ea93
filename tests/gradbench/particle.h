// tests/gradbench/particle.h -- a particle among charges: a gradient in a loop, and a gradient
// through that loop
#pragma once

#include <hom/tests/gradbench/optimise.h>
#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// Where the particle lands, squared, for a charge moved by w; the force is a gradient in the inner
/// mode.
Tensor landing(const Tensor& w, Mode inner);
/// The w that lands nearest: gradient descent from 0 with gradients in the outer mode.
Tensor best_landing(const Modes& modes);

/// The objective at w = 0, and its gradient there.
Workload particle(const Modes& modes);

}  // namespace hom::gradbench
