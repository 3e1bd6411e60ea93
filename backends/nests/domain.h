// backends/nests/domain.h -- the loops that a step needs, and what it reads at each position
#pragma once

#include <hom/backends/nests/index.h>
#include <hom/backends/nests/roles.h>

namespace hom::nest {

/// The extents that a step runs over: those of its result, or of its terms, the axes that are
/// summed included.
Shape domain_of(const Program& program, const Step& step, Role role);

/// Which axes of the domain are summed: those that the result does not have.
SmallVector<bool, 4> summed_axes(const Program& program, const Step& step, Role role);

/// Axes of a small contraction's domain: batch, free of lhs, free of rhs, contracted.
struct ContractionAxes {
  /// For each axis of the domain, the axis of lhs and of rhs, or −1.
  SmallVector<std::int64_t, 6> lhs;
  SmallVector<std::int64_t, 6> rhs;
};
ContractionAxes contraction_axes(const Program& program, const Step& step);

/// What a step reads at an index of its domain.
struct Read {
  Slot slot;
  /// Nothing: at a place that is computed, or by a view without symbolic index; from memory.
  std::optional<Index> at;
};
SmallVector<Read, 4> reads_of(const Program& program, const Step& step, Role role, const Index& at);

/// The index of the domain, as far as that of operand k tells; nothing where it tells nothing.
std::optional<Index> domain_shown(const Program& program, const Step& step, Role role,
                                  std::size_t k, const Index& operand);

}  // namespace hom::nest
