// categories/product.h -- the product of two categories: pairs of arrows
//
// An arrow is an arrow of C and an arrow of D between the same objects, and every operation works
// on both halves; so every law holds that holds in both. One reading of a program gives both, say
// a value together with a bound.
//
// C. Elliott, "Compiling to Categories" (2017), section 7: (k × k′) a b = k a b × k′ a b.
#pragma once

#include <hom/categories/linear.h>

namespace hom::categories {

template <Cartesian C, Cartesian D>
struct Product {
  C c = {};
  D d = {};

  struct Arrow {
    typename C::Arrow first;
    typename D::Arrow second;
  };

  static constexpr bool conditional = Conditional<C> && Conditional<D>;
  static constexpr bool linear = LinearCategory<C> && LinearCategory<D>;

  std::string name() const { return "the product of " + c.name() + " and " + d.name(); }
  /// What either lacks.
  std::string lacks(const Primitive& primitive) const {
    const std::string reason = c.lacks(primitive);
    return reason.empty() ? std::string(d.lacks(primitive)) : reason;
  }
  Environment domain(const Arrow& f) const { return c.domain(f.first); }
  Environment codomain(const Arrow& f) const { return c.codomain(f.first); }

  Arrow id(const Environment& a) const { return {c.id(a), d.id(a)}; }
  Arrow compose(const Arrow& g, const Arrow& f) const {
    return {c.compose(g.first, f.first), d.compose(g.second, f.second)};
  }
  Arrow fork(const Arrow& f, const Arrow& g) const {
    return {c.fork(f.first, g.first), d.fork(f.second, g.second)};
  }
  Arrow project(const Environment& a, const Positions& positions) const {
    return {c.project(a, positions), d.project(a, positions)};
  }
  Arrow primitive(const Operation& operation) const {
    return {c.primitive(operation), d.primitive(operation)};
  }
  Arrow cond(const Arrow& then, const Arrow& otherwise) const
    requires conditional
  {
    return {c.cond(then.first, otherwise.first), d.cond(then.second, otherwise.second)};
  }

  Arrow join(const Arrow& f, const Arrow& g) const
    requires linear
  {
    return {c.join(f.first, g.first), d.join(f.second, g.second)};
  }
  Arrow inject(const Environment& a, const Positions& positions) const
    requires linear
  {
    return {c.inject(a, positions), d.inject(a, positions)};
  }
  Arrow scale(const Tensor& factor) const
    requires linear
  {
    return {c.scale(factor), d.scale(factor)};
  }
};

}  // namespace hom::categories
