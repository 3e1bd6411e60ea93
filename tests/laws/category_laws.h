// tests/laws/category_laws.h -- the laws of categories, as templates over a category and sample
// arrows
//
// Each law returns where it fails, or the empty string. To test a category, call `category_laws`,
// `cartesian_laws` and `functor_law` on chains of random programs; for one of linear arrows also
// `coproduct_laws`, `biproduct_laws` and `linear_laws`, on the derivatives of such chains.
#pragma once

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/tests/laws/category_samples.h>

namespace hom::laws {

/// Arrows f : a → b, g : b → c and h : c → d with points of their domains.
template <class C>
struct Arrows {
  typename C::Arrow f, g, h;
  Tensors a, b, c;
};

template <Cartesian C>
Arrows<C> arrows_of(const C& category, const Chain& chain) {
  return {read(category, chain.f),
          read(category, chain.g),
          read(category, chain.h),
          chain.a,
          chain.b,
          chain.c};
}

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

/// Collects the first law that fails.
template <class C>
class Checker {
 public:
  Checker(const C& c, Choices& choices) : c_(c), choices_(choices) {}

  void expect_equal(const char* law, const typename C::Arrow& got, const typename C::Arrow& want,
                    const Tensors& at) {
    if (!wrong_.empty()) return;
    if (Environment(c_.domain(got)) != Environment(c_.domain(want)) ||
        Environment(c_.codomain(got)) != Environment(c_.codomain(want))) {
      wrong_ = std::string(law) + ": the objects differ";
      return;
    }
    const std::string difference = differ(c_, got, want, at, choices_);
    if (!difference.empty()) wrong_ = std::string(law) + ": " + difference;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const C& c_;
  Choices& choices_;
  std::string wrong_;
};

inline Tensors both(const Tensors& a, const Tensors& b) {
  Tensors all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

template <Cartesian C>
std::string category_laws(const C& c, const Arrows<C>& s, Choices& choices) {
  Checker<C> check(c, choices);
  check.expect_equal("f . id = f", c.compose(s.f, c.id(c.domain(s.f))), s.f, s.a);
  check.expect_equal("id . f = f", c.compose(c.id(c.codomain(s.f)), s.f), s.f, s.a);
  check.expect_equal("(h . g) . f = h . (g . f)", c.compose(c.compose(s.h, s.g), s.f),
                     c.compose(s.h, c.compose(s.g, s.f)), s.a);
  return check.wrong();
}

template <Cartesian C>
std::string cartesian_laws(const C& c, const Arrows<C>& s, Choices& choices) {
  Checker<C> check(c, choices);
  const Environment a = c.domain(s.f);
  const Environment b = c.codomain(s.f);
  const Environment d = c.codomain(s.g);
  const typename C::Arrow gf = c.compose(s.g, s.f);
  const typename C::Arrow fork = c.fork(s.f, gf);
  check.expect_equal("exl . (f △ g) = f", c.compose(exl(c, b, d), fork), s.f, s.a);
  check.expect_equal("exr . (f △ g) = g", c.compose(exr(c, b, d), fork), gf, s.a);
  check.expect_equal("exl △ exr = id", c.fork(exl(c, a, b), exr(c, a, b)), c.id(product(a, b)),
                     both(s.a, s.b));
  check.expect_equal("(f △ g) . h = (f . h) △ (g . h)", c.compose(c.fork(s.g, c.id(b)), s.f),
                     c.fork(gf, s.f), s.a);
  check.expect_equal("dup = id △ id", dup(c, a), c.fork(c.id(a), c.id(a)), s.a);
  check.expect_equal("f △ g = (f × g) . dup", c.compose(cross(c, s.f, gf), dup(c, a)), fork, s.a);
  check.expect_equal("(g × g′) . (f × f′) = (g . f) × (g′ . f′)",
                     c.compose(cross(c, s.g, s.f), cross(c, s.f, c.id(a))), cross(c, gf, s.f),
                     both(s.a, s.a));
  check.expect_equal("dup . f = (f × f) . dup", c.compose(dup(c, b), s.f),
                     c.compose(cross(c, s.f, s.f), dup(c, a)), s.a);
  check.expect_equal("f to the unit is the projection to nothing", c.compose(c.project(b, {}), s.f),
                     c.project(a, {}), s.a);
  if (!a.empty()) {
    Positions first, second, composed;
    for (std::int64_t n = choices.between(0, 4); n > 0; --n)
      first.push_back(static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(a.size()))));
    for (std::int64_t n = first.empty() ? 0 : choices.between(0, 4); n > 0; --n) {
      second.push_back(
          static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(first.size()))));
      composed.push_back(first[second.back()]);
    }
    check.expect_equal("projections compose",
                       c.compose(c.project(factors(a, first), second), c.project(a, first)),
                       c.project(a, composed), s.a);
  }
  return check.wrong();
}

/// read (h ∘ g ∘ f) = read h ∘ read g ∘ read f, and read id = id
template <Cartesian C>
std::string functor_law(const C& c, const Chain& chain, const Arrows<C>& s, Choices& choices) {
  Checker<C> check(c, choices);
  check.expect_equal("meaning (h . g . f) = meaning h . meaning g . meaning f",
                     read(c, chain.whole), c.compose(s.h, c.compose(s.g, s.f)), s.a);
  const Program identity = to_program(Programs{}.id(chain.f.input_types()));
  check.expect_equal("meaning id = id", read(c, identity), c.id(chain.f.input_types()), s.a);
  return check.wrong();
}

/// The laws of Cartesian categories, turned around.
template <LinearCategory K>
std::string coproduct_laws(const K& k, const Arrows<K>& s, Choices& choices) {
  Checker<K> check(k, choices);
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
  Checker<K> check(k, choices);
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
  Checker<K> check(k, choices);
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
