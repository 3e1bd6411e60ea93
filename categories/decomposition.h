// categories/decomposition.h -- steps with programs inside as programs of simpler steps, for
// categories that know nothing of loops and rules
#pragma once

#include <hom/categories/category.h>

namespace hom::categories {

/// The program that a step with programs inside stands for, from its operands to its results: that
/// of `call`, `checkpoint`, `composite` and of functions with derivatives of their own; a `scan`
/// unrolled, so as long as it has iterations; a `while` with a bound as so many `cond`, unrolled.
/// Null for other primitives, for `cond`, and for a `while` without a bound.
ProgramPtr decomposition(const Operation& operation);

/// Whether steps of the primitive are read by their decomposition, `while` where it has a bound.
bool is_decomposed(const Primitive& primitive);

}  // namespace hom::categories
