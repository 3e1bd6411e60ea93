// backends/optimise/known_values.h -- integers that are known when a program is optimised
#pragma once

#include <optional>
#include <vector>

#include <hom/backends/optimise/rewriting.h>

namespace hom::optimiser {

/// The elements of an integer slot that is a literal or a small tensor of the closure, row by row;
/// what does not fit i64 becomes its largest value.
std::optional<std::vector<std::int64_t>> known_integers(const Rewriting& at, Slot slot);

}  // namespace hom::optimiser
