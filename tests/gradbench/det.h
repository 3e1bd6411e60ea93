// tests/gradbench/det.h -- a determinant by expansion by minors
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// Gradient in all entries.
Workload det(const Records& in);

}  // namespace hom::gradbench
