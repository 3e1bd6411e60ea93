// categories/colouring.h -- which columns of a sparse matrix can be computed in one pass
//
// Columns that have no row in common are of one colour: their sum keeps every entry apart, so one
// Jacobian-vector product gives them all (A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the
// estimation of sparse Jacobian matrices", 1974). That is a distance-2 colouring of the bipartite
// graph of rows and columns. Of a symmetric matrix an entry may be read from either of its two
// places, and a star colouring is enough (T. F. Coleman, J. J. Moré, "Estimation of sparse Hessian
// matrices and graph coloring problems", 1984; A. H. Gebremedhin, F. Manne, A. Pothen, "What color
// is your Jacobian?", SIAM Review 47, 2005).
//
// The fewest colours are NP-hard to find. These are greedy: each column in turn takes the first
// colour that is free, in the order of their numbers and, where that needs more colours than any
// colouring must have, also with those that meet most others first; the better of the two stays.
#pragma once

#include <cstdint>
#include <vector>

#include <hom/categories/sparsity_pattern.h>

namespace hom {

struct Colouring {
  /// For each column its colour, 0 … count − 1. Of a column without entries it says nothing.
  std::vector<std::uint32_t> colours = {};
  std::int64_t count = 0;
};

/// Columns with a common row differ in colour. Takes time Σ ρ² over the numbers ρ of entries of the
/// rows, and count ≥ max ρ.
Colouring colour_columns(const SparsityPattern& pattern);

/// Of a symmetric pattern: neighbours i, j (an entry at i ≠ j) differ in colour, and every path of
/// four columns has three colours. So for each entry (i, j) one of its columns is alone with its
/// colour in the row of the other, and the entry is read there. Takes time proportional to entries
/// times colours. Throws for a pattern that is not symmetric.
Colouring colour_symmetric(const SparsityPattern& pattern,
                           const Location& at = Location::current());

/// For each entry (i, j) of a symmetric pattern, in the order of `columns`: whether j is the only
/// column of its colour in row i, so that the entry is what the pass of j's colour gives in row i.
/// Otherwise it is what the pass of i's colour gives in row j.
std::vector<bool> read_in_place(const SparsityPattern& pattern, const Colouring& colouring);

}  // namespace hom
