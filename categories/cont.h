// categories/cont.h -- continuations: an arrow a → b says what to do with an arrow from b
//
// An arrow a → b of Cont k r takes each arrow b → r of k to one a → r. Composition turns around, so
// that all compositions associate to the left, from the end: reverse mode.
//
//     cont f     = (∘ f)                       for the arrows f of k: exl, dup, primitives, scale
//     g ∘ f      = \h -> f (g h)
//     f △ g      = \h -> f (h ∘ inl) + g (h ∘ inr)
//     f ▽ g      = \h -> f h ▽ g h
//
// An arrow is determined by its value on id : r → r where r is the codomain (Yoneda); `cont` and
// `at_identity` are inverse. The continuation h is used twice by △. Where arrows of k are
// functions, it runs twice as well, and n steps take 2ⁿ calls: hom-objects have to be data
// (matrices, programs), which are computed once.
//
// C. Elliott, "The Simple Essence of Automatic Differentiation" (2018), section "Reverse-mode
// automatic differentiation".
#pragma once

#include <functional>

#include <hom/categories/linear.h>

namespace hom::categories {

template <LinearCategory K>
struct Cont {
  K k = {};
  Environment r = {};

  struct Arrow {
    Environment domain;
    Environment codomain;
    /// (b → r) to (a → r)
    std::function<typename K::Arrow(const typename K::Arrow&)> function;
  };

  std::string name() const { return "continuations in " + k.name(); }
  std::string lacks(const Primitive& primitive) const { return k.lacks(primitive); }
  const Environment& domain(const Arrow& f) const { return f.domain; }
  const Environment& codomain(const Arrow& f) const { return f.codomain; }

  /// The functor from k.
  Arrow cont(const typename K::Arrow& f) const {
    return {k.domain(f), k.codomain(f),
            [k = k, f](const typename K::Arrow& h) { return k.compose(h, f); }};
  }

  Arrow id(const Environment& a) const {
    return {a, a, [](const typename K::Arrow& h) { return h; }};
  }
  Arrow compose(const Arrow& g, const Arrow& f) const {
    ensure(f.codomain == g.domain, "compose: the codomain of f is the domain of g");
    return {f.domain, g.codomain,
            [f = f.function, g = g.function](const typename K::Arrow& h) { return f(g(h)); }};
  }
  Arrow fork(const Arrow& f, const Arrow& g) const {
    ensure(f.domain == g.domain, "fork: f and g have one domain");
    return {f.domain, product(f.codomain, g.codomain), [k = k, f, g](const typename K::Arrow& h) {
              // One after the other, as programs keep the order.
              const typename K::Arrow left =
                  f.function(k.compose(h, inl(k, f.codomain, g.codomain)));
              return plus(k, left, g.function(k.compose(h, inr(k, f.codomain, g.codomain))));
            }};
  }
  Arrow join(const Arrow& f, const Arrow& g) const {
    ensure(f.codomain == g.codomain, "join: f and g have one codomain");
    return {product(f.domain, g.domain), f.codomain,
            [k = k, f = f.function, g = g.function](const typename K::Arrow& h) {
              const typename K::Arrow left = f(h);
              return k.join(left, g(h));
            }};
  }
  Arrow project(const Environment& a, const Positions& positions) const {
    return cont(k.project(a, positions));
  }
  Arrow inject(const Environment& a, const Positions& positions) const {
    return cont(k.inject(a, positions));
  }
  Arrow scale(const Tensor& factor) const { return cont(k.scale(factor)); }
  Arrow primitive(const Operation& operation) const { return cont(k.primitive(operation)); }

  /// The arrow of k that an arrow a → r is made of.
  typename K::Arrow at_identity(const Arrow& f) const {
    ensure(f.codomain == r, "at_identity: the codomain is r");
    return f.function(k.id(r));
  }
};

}  // namespace hom::categories
