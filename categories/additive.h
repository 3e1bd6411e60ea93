// categories/additive.h -- additive functions (−+>): linear maps as the functions that they are
//
// An arrow a → b is a function f from the tensors of a to those of b with f (x + y) = f x + f y.
// The biproduct of vector spaces is written out:
//
//     join f g = \(x, y) -> f x + g y       inject {0} = \x -> (x, 0)       scale s = \x -> s·x
//
// The meaning of every other category of linear arrows is an arrow here. Composition nests
// functions, so a composite is as deep as it is long, and what is shared between two functions is
// lost: see `Programs` for arrows as data.
//
// C. Elliott, "The Simple Essence of Automatic Differentiation" (2018), section "Generalizing
// automatic differentiation", (−+>).
#pragma once

#include <hom/categories/interpret.h>
#include <hom/categories/linear.h>

namespace hom::categories {

struct Additive : Functions<Arrays> {
  std::string name() const { return "additive functions"; }
  std::string lacks(const Primitive& primitive) const { return lacks_linear(primitive); }

  /// (x, y) ↦ f x + g y
  Arrow join(const Arrow& f, const Arrow& g) const;
  Arrow inject(const Environment& a, const Positions& positions) const;
  Arrow scale(const Tensor& factor) const;
  Arrow primitive(const Operation& operation) const;
};

}  // namespace hom::categories
