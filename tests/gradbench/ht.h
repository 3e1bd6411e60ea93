// tests/gradbench/ht.h -- hand tracking: a dense Jacobian
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// The distances of points from a skinned hand, and their Jacobian in barycentric coordinates and
/// pose.
Workload ht(const Records& in);

}  // namespace hom::gradbench
