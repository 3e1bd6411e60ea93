// backends/nests/tiles.h -- loops whose arrays lie across each other, in tiles that caches hold
//
// Where a loop along rows of one array walks down columns of another, as in a transpose, each
// element of a column brings a cache line of which the next row needs the next element; by then it
// is gone if columns are long. Two such loops become one in tiles.
#pragma once

#include <hom/backends/nests/plan.h>

namespace hom::nest {

/// Sets `Loop::tile` where it is worth it: iterations without order, one array read along the
/// vectors and another across them. The kernel means the same.
Kernel with_tiles(Kernel kernel);

/// The same for all kernels of a plan; before launches are shared.
void tile_kernels(Plan& plan);

}  // namespace hom::nest
