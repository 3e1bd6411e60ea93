// tests/gradbench/ba.h -- bundle adjustment: a sparse Jacobian by compressed rows
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// The errors of p observations, and their Jacobian in all cameras, points and weights.
Workload ba(const Records& in);

}  // namespace hom::gradbench
