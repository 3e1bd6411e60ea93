// tests/gradbench/saddle.h -- a minimum of maxima: gradient descent through gradient ascent
#pragma once

#include <hom/tests/gradbench/optimise.h>
#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// The place of the saddle, [p₁x, p₁y, p₂x, p₂y].
Tensor saddle_point(const Modes& modes);

/// The outer objective at the start, and its gradient there, through the inner optimisation.
Workload saddle(const Modes& modes);

}  // namespace hom::gradbench
