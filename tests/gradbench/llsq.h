// tests/gradbench/llsq.h -- least squares of a polynomial to a step
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// Gradient in the coefficients.
Workload llsq(const Records& in);

}  // namespace hom::gradbench
