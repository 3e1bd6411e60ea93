// backends/nests/vector_axis.h -- along which axis a kernel is vectorised
#pragma once

#include <hom/backends/nests/kernel_maker.h>

namespace hom::nest {

/// The axis along which most elements lie one behind the other, weighted by how often they are
/// touched; nothing where single values are better. It becomes the last one of its loop.
std::optional<Axis> choose_vector_axis(Draft& draft);

/// The axes of the loops from the root to one, its own included.
AxisSet path_of(const std::vector<LoopNode>& loops, std::size_t loop);

}  // namespace hom::nest
