// categories/selections.h -- a function of parts of its inputs, apart from the choice of the parts
//
// Often many results read the same few inputs: f(x) = g(x[i], x[j], …), where residual k looks at
// its own elements. In x a row has few entries and a column many; in what is read, rows and columns
// both have few, so that other directions suffice: of g's Jacobian the transpose may have a
// colouring where f's has none. The choice is linear, each element of it one of x, so the entries
// of f's Jacobian are those of g's.
//
// A. Griewank and Ph. L. Toint, "On the unconstrained optimization of partially separable
// functions" (1982).
#pragma once

#include <optional>
#include <vector>

#include <hom/categories/sparsity_pattern.h>
#include <hom/core/program.h>

namespace hom {

struct Selections {
  /// x… ↦ the parts.
  Program parts;
  /// x…, parts… ↦ the results.
  Program rest;
  std::size_t part_count = 0;
};

enum class Parts : std::uint8_t {
  /// What slices, gathers, reshapes and transpositions lead to, as far as nothing else is made of
  /// what they start from.
  smallest,
  /// What the first of them leads to.
  first,
};

/// The parts of the active float inputs that are all a program reads of them. Nothing where no
/// gather is among them, so that the parts are the inputs.
std::optional<Selections> selections(const Program& program, const std::vector<bool>& active,
                                     Parts wanted = Parts::smallest);

}  // namespace hom
