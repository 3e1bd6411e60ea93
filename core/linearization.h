// core/linearization.h -- the result of the functor linearize: a program and its linear
// approximation
#pragma once

#include <vector>

#include <hom/core/program.h>

namespace hom {

/// A program f and its derivative at a point, as two programs that share residuals.
struct Linearization {
  /// x… ↦ f(x…)…, residuals…
  Program primal;
  /// residuals…, dx… ↦ dy…, linear in dx. There is a dx for each active input and a dy for each
  /// output that varies.
  Program linear;
  std::size_t residual_count = 0;
  /// For each output of f, whether it has a tangent.
  std::vector<bool> output_varies;
};

}  // namespace hom
