// backends/optimise/elementwise.h -- which primitives are functions of single elements
#pragma once

#include <hom/core/primitive.h>

namespace hom::optimiser {

/// Whether each element of the result depends on the elements at the same place alone, and on the
/// attributes: Hom's own primitives.
bool is_elementwise(const Primitive& primitive);

}  // namespace hom::optimiser
