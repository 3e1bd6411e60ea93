// backends/nests/expand_functions.h -- functions as what they are made of
//
// backends/math/ writes exp, log, sin … once, for any type of numbers. Here the numbers are values
// of a kernel: calling `math::exp` on one appends the nodes of its definition. So compiled kernels
// compute, several at once, the very operations that the eager rows do.
#pragma once

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// The kernel with the functions of backends/math/ spelled out, and positions compared with 32 bits
/// where that is better (narrow.h), for emitters. 16-bit floats are
/// computed in f32. Parts that several functions share are computed once in a block.
Kernel expanded(Kernel kernel);

/// Whether `expanded` spells it out.
bool is_expanded(Function function);

}  // namespace hom::nest
