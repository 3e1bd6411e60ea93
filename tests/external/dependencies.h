// dependencies.h -- a category of one's own by its arrows: which result depends on which argument
//
// An arrow a → b is a relation, a Boolean matrix with a row for each tensor of b and a column for
// each of a. Composition is the product of Boolean matrices, △ puts rows below each other.
#pragma once

#include <string>
#include <vector>

#include <hom/categories/category.h>

namespace extension {

struct Dependencies {
  struct Arrow {
    hom::categories::Environment domain;
    hom::categories::Environment codomain;
    /// rows[i][j]: whether result i depends on argument j.
    std::vector<std::vector<bool>> rows;
  };

  std::string name() const { return "dependencies"; }
  /// Every primitive has an arrow: its results depend on its operands.
  std::string lacks(const hom::Primitive&) const { return ""; }
  const hom::categories::Environment& domain(const Arrow& f) const { return f.domain; }
  const hom::categories::Environment& codomain(const Arrow& f) const { return f.codomain; }

  Arrow id(const hom::categories::Environment& a) const;
  Arrow compose(const Arrow& g, const Arrow& f) const;
  Arrow fork(const Arrow& f, const Arrow& g) const;
  Arrow project(const hom::categories::Environment& a,
                const hom::categories::Positions& positions) const;
  Arrow primitive(const hom::categories::Operation& operation) const;
  /// bool[] × a → b: on the predicate, and on what either branch depends on.
  Arrow cond(const Arrow& then, const Arrow& otherwise) const;
};

}  // namespace extension
