// backends/nests/shortcuts.h -- products guarded together instead of one by one
#pragma once

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// Derivatives are full of `scale`, a product that differs from `mul` only where that is NaN. In
/// loops with several of them and no reductions the products are attempted first: where nothing
/// that is stored or decided upon became NaN, no product did, and the attempt's elements are
/// stored; otherwise all is computed as it was. The kernel means the same.
Kernel with_shortcuts(Kernel kernel);

}  // namespace hom::nest
