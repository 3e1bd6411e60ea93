// backends/nests/narrow.h -- positions that are compared with 32 bits
//
// Positions are i64, but seldom beyond 2³¹. Where a kernel computes with elements of four bytes or
// fewer, a mask of positions (a causal one, a one-hot one) compared with 64 bits would halve the
// lanes of all its loops.
#pragma once

#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// For each value whether it is a comparison of i64 operands, or a conversion of one to a float,
/// that is the same when its operands are converted to i32 first, and better so: their ranges are
/// known to fit, and nothing else in the kernel needs elements of eight bytes.
std::vector<bool> wants_narrow_operands(const Kernel& kernel);

}  // namespace hom::nest
