// tests/gradbench/kmeans.h -- cost of a clustering, and Newton's direction with the diagonal
// Hessian
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// Gradient divided by the diagonal of the Hessian, both by differentiation.
Workload kmeans(const Records& in);

}  // namespace hom::gradbench
