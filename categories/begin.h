// categories/begin.h -- the mirror image of Cont: an arrow a → b says what follows an arrow to a
//
// An arrow a → b of Begin k r takes each arrow r → a of k to one r → b, so that all compositions
// associate to the right, from the beginning: forward mode.
//
//     begin f    = (f ∘)                       for the arrows f of k: exl, dup, primitives, scale
//     g ∘ f      = \h -> g (f h)
//     f △ g      = \h -> f h △ g h
//     f ▽ g      = \h -> f (exl ∘ h) + g (exr ∘ h)
//
// An arrow is determined by its value on id : r → r where r is the domain. With hom-objects of k
// as data, such as `Programs`, each arrow of k adds its own steps and no more: what costs n², or 2ⁿ
// with functions, costs n. Dual (Begin Programs r) is that for reverse mode, and does what
// `transpose` does: it walks a program backwards and grows one graph of cotangents.
//
// C. Elliott, "The Simple Essence of Automatic Differentiation" (2018), section "Forward-mode
// automatic differentiation".
#pragma once

#include <functional>

#include <hom/categories/linear.h>

namespace hom::categories {

template <LinearCategory K>
struct Begin {
  K k = {};
  Environment r = {};

  struct Arrow {
    Environment domain;
    Environment codomain;
    /// (r → a) to (r → b)
    std::function<typename K::Arrow(const typename K::Arrow&)> function;
  };

  std::string name() const { return "beginnings in " + k.name(); }
  std::string lacks(const Primitive& primitive) const { return k.lacks(primitive); }
  const Environment& domain(const Arrow& f) const { return f.domain; }
  const Environment& codomain(const Arrow& f) const { return f.codomain; }

  /// The functor from k.
  Arrow begin(const typename K::Arrow& f) const {
    return {k.domain(f), k.codomain(f),
            [k = k, f](const typename K::Arrow& h) { return k.compose(f, h); }};
  }

  Arrow id(const Environment& a) const {
    return {a, a, [](const typename K::Arrow& h) { return h; }};
  }
  Arrow compose(const Arrow& g, const Arrow& f) const {
    ensure(f.codomain == g.domain, "compose: the codomain of f is the domain of g");
    return {f.domain, g.codomain,
            [f = f.function, g = g.function](const typename K::Arrow& h) { return g(f(h)); }};
  }
  Arrow fork(const Arrow& f, const Arrow& g) const {
    ensure(f.domain == g.domain, "fork: f and g have one domain");
    return {f.domain, product(f.codomain, g.codomain),
            [k = k, f = f.function, g = g.function](const typename K::Arrow& h) {
              // One after the other, as programs keep the order.
              const typename K::Arrow left = f(h);
              return k.fork(left, g(h));
            }};
  }
  Arrow join(const Arrow& f, const Arrow& g) const {
    ensure(f.codomain == g.codomain, "join: f and g have one codomain");
    return {product(f.domain, g.domain), f.codomain, [k = k, f, g](const typename K::Arrow& h) {
              const typename K::Arrow left = f.function(k.compose(exl(k, f.domain, g.domain), h));
              return plus(k, left, g.function(k.compose(exr(k, f.domain, g.domain), h)));
            }};
  }
  Arrow project(const Environment& a, const Positions& positions) const {
    return begin(k.project(a, positions));
  }
  Arrow inject(const Environment& a, const Positions& positions) const {
    return begin(k.inject(a, positions));
  }
  Arrow scale(const Tensor& factor) const { return begin(k.scale(factor)); }
  Arrow primitive(const Operation& operation) const { return begin(k.primitive(operation)); }

  /// The arrow of k that an arrow r → b is made of.
  typename K::Arrow at_identity(const Arrow& f) const {
    ensure(f.domain == r, "at_identity: the domain is r");
    return f.function(k.id(r));
  }
};

}  // namespace hom::categories
