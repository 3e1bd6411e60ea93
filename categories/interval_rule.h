// categories/interval_rule.h -- what the rules of the category of intervals share
#pragma once

#include <hom/categories/interval.h>

namespace hom::categories {

/// Functions of one element at a time, and predicates.
void add_elementwise_intervals(IntervalRules& rules);
/// Views, rearrangements, reads and writes.
void add_movement_intervals(IntervalRules& rules);
/// Reductions, running reductions and contractions.
void add_reduction_intervals(IntervalRules& rules);

/// All numbers of a dtype.
Interval anything(Dtype dtype);
/// An interval of integers or bools that may have left the dtype, and then wraps to anything.
Interval wrapped(const Interval& x, Dtype dtype);
/// The hull of all elements; empty where there are none.
Interval hull_of(const IntervalTensor& x);

}  // namespace hom::categories
