// tests/laws/category_laws.h -- the laws of categories on arrows of random programs
//
// Those of Cartesian categories are in categories/laws.h; categories of linear arrows have more,
// which hold for the derivatives of such programs. To test a category, say in category_samples.h
// when two arrows are equal (`differ`), and add it to the subjects of category_laws_test.cc.
#pragma once

#include <hom/categories/laws.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/tests/laws/category_samples.h>

namespace hom::laws {

template <class C>
using Arrows = LawSamples<C>;
template <class C>
using Checker = LawChecker<C>;

/// The derivatives of the chain at its points, which compose as well.
template <LinearCategory K>
Arrows<K> derivatives_of(const K& k, const Chain& chain) {
  const auto at = [&](const Program& program, const Tensors& x) {
    const LinearAtPoint derivative = derivative_at(program, x);
    return read_linear(k, derivative.program, derivative.residuals);
  };
  return {at(chain.f, chain.a), at(chain.g, chain.b), at(chain.h, chain.c),
          floats_of(chain.a),   floats_of(chain.b),   floats_of(chain.c)};
}

/// The laws with the equality of this test, at points that it may draw.
template <Cartesian C>
Difference<C> difference_of(const C& c, Choices& choices) {
  return [&](const typename C::Arrow& f, const typename C::Arrow& g, const Tensors& at) {
    return differ(c, f, g, at, choices);
  };
}
template <Cartesian C>
std::string category_laws(const C& c, const Arrows<C>& s, Choices& choices) {
  return categories::category_laws(c, s, difference_of(c, choices));
}
template <Cartesian C>
std::string cartesian_laws(const C& c, const Arrows<C>& s, Choices& choices) {
  return categories::cartesian_laws(c, s, difference_of(c, choices));
}

/// The laws of Cartesian categories, turned around.
template <LinearCategory K>
std::string coproduct_laws(const K& k, const Arrows<K>& s, Choices& choices) {
  Checker<K> check(k, difference_of(k, choices));
  const Environment a = k.domain(s.f);
  const Environment b = k.codomain(s.f);
  const typename K::Arrow gf = k.compose(s.g, s.f);
  const typename K::Arrow join = k.join(s.g, gf);
  check.expect_equal("(f ▽ g) . inl = f", k.compose(join, inl(k, b, a)), s.g, s.b);
  check.expect_equal("(f ▽ g) . inr = g", k.compose(join, inr(k, b, a)), gf, s.a);
  check.expect_equal("inl ▽ inr = id", k.join(inl(k, a, b), inr(k, a, b)), k.id(product(a, b)),
                     both(s.a, s.b));
  check.expect_equal("h . (f ▽ g) = (h . f) ▽ (h . g)", k.compose(s.h, join),
                     k.join(k.compose(s.h, s.g), k.compose(s.h, gf)), both(s.b, s.a));
  check.expect_equal("jam = id ▽ id", jam(k, a), k.join(k.id(a), k.id(a)), both(s.a, s.a));
  check.expect_equal("f ▽ g = jam . (f × g)", k.compose(jam(k, k.codomain(s.g)), cross(k, s.g, gf)),
                     join, both(s.b, s.a));
  return check.wrong();
}

/// Products and coproducts are one.
template <LinearCategory K>
std::string biproduct_laws(const K& k, const Arrows<K>& s, Choices& choices) {
  Checker<K> check(k, difference_of(k, choices));
  const Environment a = k.domain(s.f);
  const Environment b = k.codomain(s.f);
  check.expect_equal("exl . inl = id", k.compose(exl(k, a, b), inl(k, a, b)), k.id(a), s.a);
  check.expect_equal("exr . inl = 0", k.compose(exr(k, a, b), inl(k, a, b)), zero(k, a, b), s.a);
  check.expect_equal("exl . inr = 0", k.compose(exl(k, a, b), inr(k, a, b)), zero(k, b, a), s.b);
  check.expect_equal(
      "inl . exl + inr . exr = id",
      plus(k, k.compose(inl(k, a, b), exl(k, a, b)), k.compose(inr(k, a, b), exr(k, a, b))),
      k.id(product(a, b)), both(s.a, s.b));
  const typename K::Arrow f_and_id = k.fork(s.f, k.id(a));
  const typename K::Arrow gf = k.compose(s.g, s.f);
  check.expect_equal("(f ▽ g) . (h △ k) = f . h + g . k", k.compose(k.join(s.g, gf), f_and_id),
                     plus(k, gf, gf), s.a);
  return check.wrong();
}

/// Arrows between two objects are a vector space, and composition is bilinear.
template <LinearCategory K>
std::string linear_laws(const K& k, const Arrows<K>& s, Choices& choices) {
  Checker<K> check(k, difference_of(k, choices));
  const Environment a = k.domain(s.f);
  const Environment b = k.codomain(s.f);
  const Environment c = k.codomain(s.g);
  const typename K::Arrow other = random_linear(k, b, c, choices);
  check.expect_equal("f + 0 = f", plus(k, s.f, zero(k, a, b)), s.f, s.a);
  check.expect_equal("f + g = g + f", plus(k, s.g, other), plus(k, other, s.g), s.b);
  check.expect_equal("(f + g) . h = f . h + g . h", k.compose(plus(k, s.g, other), s.f),
                     plus(k, k.compose(s.g, s.f), k.compose(other, s.f)), s.a);
  check.expect_equal("h . (f + g) = h . f + h . g", k.compose(s.h, plus(k, s.g, other)),
                     plus(k, k.compose(s.h, s.g), k.compose(s.h, other)), s.b);
  check.expect_equal("0 . f = 0", k.compose(zero(k, b, c), s.f), zero(k, a, c), s.a);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const Tensor u = random_tensor(b[i], Domain::smooth, choices);
    const Tensor v = random_tensor(b[i], Domain::smooth, choices);
    const Tensors at{s.b[i]};
    check.expect_equal("scale u . scale v = scale (u·v)", k.compose(k.scale(u), k.scale(v)),
                       k.scale(u * v), at);
    check.expect_equal("scale u + scale v = scale (u + v)", plus(k, k.scale(u), k.scale(v)),
                       k.scale(u + v), at);
    check.expect_equal("scale 1 = id", k.scale(ones_like(u)), k.id({b[i]}), at);
  }
  return check.wrong();
}

}  // namespace hom::laws
