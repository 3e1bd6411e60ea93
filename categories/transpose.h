// categories/transpose.h -- the functor transpose: linear programs to linear programs, backwards
#pragma once

#include <vector>

#include <hom/core/linearization.h>

namespace hom {

/// The transpose of a program that is linear in the inputs marked: other inputs…, ȳ… ↦ x̄… with one
/// cotangent for each output and one result for each marked input.
///
/// It walks the steps once, backwards: y = L(x…) becomes x̄ += Lᵀȳ, so sharing in the program
/// becomes addition, and nothing is visited twice (R. Frostig et al., "Decomposing reverse-mode
/// automatic differentiation", 2021; for the category, Elliott 2018, section 4.4, Cont and
/// duality). Throws `Error`, with the line, at a step that is not linear.
///
/// `accumulated` marks linear inputs whose cotangent starts from a further input, after the ȳ,
/// instead of from zero: reads of single elements add into it in place.
Program transpose(const Program& program, const std::vector<bool>& linear_inputs,
                  const std::vector<bool>& accumulated = {});

/// The transpose of a derivative in all of its tangents: residuals…, ȳ… ↦ x̄….
Program pullback_of(const Linearization& derivative);

}  // namespace hom
