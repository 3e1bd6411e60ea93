// backends/math/host.h -- what the functions of this folder leave to the library of the host: the
// few operands that would make all others slower
#pragma once

#include <hom/backends/math/number.h>

namespace hom::math {

/// The function by the host's library: circular functions of large angles, remainders of large
/// quotients. `y` is the second operand, if there is one.
float ask_host(Rare function, float x, float y);
double ask_host(Rare function, double x, double y);

}  // namespace hom::math
