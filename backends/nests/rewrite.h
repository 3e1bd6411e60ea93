// backends/nests/rewrite.h -- drafts of kernels with fewer axes and values
#pragma once

#include <hom/backends/nests/kernel_maker.h>

namespace hom::nest {

/// The stride of an index along an axis; nothing where it is not affine in it.
std::optional<std::int64_t> stride_along(const Values& values, Value index, Axis axis);

/// Neighbouring axes of a loop become one wherever every index steps through both as through one.
/// Values that nothing needs are left out.
Draft with_merged_axes(Draft draft);

}  // namespace hom::nest
