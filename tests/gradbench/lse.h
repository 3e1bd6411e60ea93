// tests/gradbench/lse.h -- the logarithm of a sum of exponentials
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// Gradient in all terms.
Workload lse(const Records& in);

}  // namespace hom::gradbench
