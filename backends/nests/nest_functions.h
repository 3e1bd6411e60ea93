// backends/nests/nest_functions.h -- which dtypes the functions of kernels take and give
#pragma once

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// Whether there is this function of elements of `dtype`.
bool takes(Function function, Dtype dtype);
/// Whether the result is a bool, whatever the operands: comparisons and `is_finite`.
bool is_test(Function function);
/// Whether terms of `dtype` can be combined so.
bool takes(Combine combine, Dtype dtype);

}  // namespace hom::nest
