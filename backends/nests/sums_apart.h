// backends/nests/sums_apart.h -- reductions in loops of their own, beside long bodies
#pragma once

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// The kernel, for emitters, with reductions taken out of vectorised loops whose bodies are long
/// and whose positions do not fill vectors: terms are kept in local memory, and a short loop
/// reduces them. What is left over after the vectors is then done by shorter ones, which a loop
/// with reductions cannot have, instead of one position after the other.
Kernel with_sums_apart(Kernel kernel);

/// Statements that are spelled for one iteration, those of inner loops included.
std::int64_t weight_of(const Block& block);
/// From so many on a body is spelled once more for each of several widths of vectors.
inline constexpr std::int64_t long_body = 40;

}  // namespace hom::nest
