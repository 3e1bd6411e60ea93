// categories/laws.h -- the laws of categories, as templates over a category and sample arrows: for
// the tests of categories, Hom's own and those of users
//
// Each law returns where it fails, or the empty string. Whoever tests a category says when two of
// its arrows are equal, and takes samples from any program: cut in three it is a composite h ∘ g ∘
// f.
//
//     const Chain chain = chain_of(program(f, f64[{3}]), 1, 2, {x});
//     const LawSamples<C> s = law_samples(c, chain);
//     EXPECT_EQ(category_laws(c, s, difference), "");
//     EXPECT_EQ(cartesian_laws(c, s, difference), "");
//     EXPECT_EQ(functor_laws(c, chain, s, difference), "");
//
// Not part of <hom/hom.h>.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <hom/categories/read.h>

namespace hom::categories {

/// A program as a composite g ∘ f, where f is its first `steps` steps.
std::pair<Program, Program> cut(const Program& program, std::size_t steps);

/// A program cut in three, whole = h ∘ g ∘ f, with a point of each object of a → b → c → d.
struct Chain {
  Program whole;
  Program f, g, h;
  Tensors a, b, c, d;
};
/// With f up to the step `first` and g up to the step `second` of `whole`, at concrete inputs.
Chain chain_of(const Program& whole, std::size_t first, std::size_t second, const Tensors& inputs);

/// Arrows f : a → b, g : b → c and h : c → d, with points of their domains.
template <Cartesian C>
struct LawSamples {
  typename C::Arrow f, g, h;
  Tensors a, b, c;
};
template <Cartesian C>
LawSamples<C> law_samples(const C& category, const Chain& chain) {
  return {read(category, chain.f),
          read(category, chain.g),
          read(category, chain.h),
          chain.a,
          chain.b,
          chain.c};
}

/// Where two arrows with one domain and codomain differ, at or near a point of the domain; empty
/// where they do not.
template <Cartesian C>
using Difference = std::function<std::string(const typename C::Arrow&, const typename C::Arrow&,
                                             const Tensors& at)>;

/// Collects the first law that fails.
template <Cartesian C>
class LawChecker {
 public:
  LawChecker(const C& category, Difference<C> difference)
      : category_(category), difference_(std::move(difference)) {}

  void expect_equal(const char* law, const typename C::Arrow& got, const typename C::Arrow& want,
                    const Tensors& at) {
    if (!wrong_.empty()) return;
    const bool same_objects =
        Environment(category_.domain(got)) == Environment(category_.domain(want)) &&
        Environment(category_.codomain(got)) == Environment(category_.codomain(want));
    const std::string where = same_objects ? difference_(got, want, at) : "the objects differ";
    if (!where.empty()) wrong_ = std::string(law) + ": " + where;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const C& category_;
  Difference<C> difference_;
  std::string wrong_;
};

inline Tensors both(const Tensors& a, const Tensors& b) {
  Tensors all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

template <Cartesian C>
std::string category_laws(const C& c, const LawSamples<C>& s, const Difference<C>& difference) {
  LawChecker<C> check(c, difference);
  check.expect_equal("f . id = f", c.compose(s.f, c.id(c.domain(s.f))), s.f, s.a);
  check.expect_equal("id . f = f", c.compose(c.id(c.codomain(s.f)), s.f), s.f, s.a);
  check.expect_equal("(h . g) . f = h . (g . f)", c.compose(c.compose(s.h, s.g), s.f),
                     c.compose(s.h, c.compose(s.g, s.f)), s.a);
  return check.wrong();
}

template <Cartesian C>
std::string cartesian_laws(const C& c, const LawSamples<C>& s, const Difference<C>& difference) {
  LawChecker<C> check(c, difference);
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
  // Projections compose: the second half of all factors and all factors, each in reverse.
  Positions first, second, composed;
  for (std::size_t i = 2 * a.size(); i-- > a.size() / 2;) first.push_back(i % a.size());
  for (std::size_t i = first.size(); i-- > 0; i -= i > 0) second.push_back(i);
  for (std::size_t position : second) composed.push_back(first[position]);
  check.expect_equal("projections compose",
                     c.compose(c.project(factors(a, first), second), c.project(a, first)),
                     c.project(a, composed), s.a);
  return check.wrong();
}

/// read (h ∘ g ∘ f) = read h ∘ read g ∘ read f, and read id = id
template <Cartesian C>
std::string functor_laws(const C& c, const Chain& chain, const LawSamples<C>& s,
                         const Difference<C>& difference) {
  LawChecker<C> check(c, difference);
  check.expect_equal("meaning (h . g . f) = meaning h . meaning g . meaning f",
                     read(c, chain.whole), c.compose(s.h, c.compose(s.g, s.f)), s.a);
  const Program identity = cut(chain.f, 0).first;
  const Environment a = chain.f.input_types();
  check.expect_equal("meaning id = id", read(c, identity), c.id(a), s.a);
  return check.wrong();
}

}  // namespace hom::categories
