// tests/laws/category_laws_test.cc -- every category obeys the laws, on arrows of random programs
#include <hom/tests/laws/category_laws.h>

#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/drawing.h>
#include <hom/tests/laws/readings.h>

namespace hom::laws {
namespace {

// What the driver decomposes is the same for all categories, and makes longer programs, which
// functions call exponentially often: functor_laws_test.cc has it.
const Wish smooth{.domain = Domain::smooth,
                  .without = {"scan", "while", "custom_jvp", "custom_vjp", "custom_linear",
                              "composite", "checkpoint"},
                  .max_size = 10};
/// With tensors that have elements, and few of them: matrices are dense.
const Environment r{f64[{2}], f64[{}]};

// A subject is a category with what its samples may be.

template <class C>
struct Subject {
  using Category = C;
  static C make() { return C{}; }
  static constexpr int cases = 150;
  static constexpr int max_lines = 8;
  static Wish wish() { return smooth; }
  /// Of the derivatives of its samples.
  static constexpr std::size_t most_steps = 1000;
};
template <class K>
struct WithR : Subject<K> {
  static K make() { return K{.k = {}, .r = r}; }
};
template <class K>
struct WithDualR : Subject<Dual<K>> {
  static Dual<K> make() { return {{.k = {}, .r = r}}; }
};
/// Where each fork runs a function twice, or copies a graph.
template <class K>
struct Short : WithR<K> {
  static constexpr int cases = 60;
  static constexpr int max_lines = 3;
  /// A function is called 2ⁿ times for n forks behind each other, so derivatives of many steps,
  /// such as those of cummax or of an inverse, would take for ever.
  static constexpr std::size_t most_steps = 10;
};
/// Intervals, alone or in a product: no bounds are known of factors of matrices.
template <class C>
struct Bounded : Subject<C> {
  static Wish wish() {
    Wish without = smooth;
    for (const Primitive* p : standard_primitives().all()) {
      if (is_for_matrices(p->name)) without.without.push_back(p->name);
    }
    return without;
  }
};
template <class C>
struct Long : Subject<C> {
  static constexpr int cases = 600;
  static constexpr int max_lines = 30;
};
template <class K>
struct OverR : Subject<GAD<K>> {
  static GAD<K> make() { return {{.k = {}, .r = r}}; }
};
struct OverDualBegin : Subject<GAD<Dual<Begin<Programs>>>> {
  static Category make() { return {{{.k = {}, .r = r}}}; }
};

struct Names {
  template <class S>
  static std::string GetName(int) {
    std::string name = S::make().name();
    for (char& letter : name) {
      if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
    }
    return name;
  }
};

template <class S>
void check(const char* law, const Property& property) {
  for_random_programs((S::make().name() + ": " + law).c_str(), S::cases, S::max_lines, S::wish(),
                      property);
}

/// Laws of arrows that are read from programs.
template <class S>
class CartesianLaws : public testing::Test {
 public:
  using C = typename S::Category;
  void holds(const char* name, std::string (*law)(const C&, const Arrows<C>&, Choices&)) {
    check<S>(name, [&](const RandomProgram& program, Choices& choices) {
      const C c = S::make();
      return law(c, law_samples(c, random_chain(program, choices)), choices);
    });
  }
};

using CartesianSubjects =
    testing::Types<Subject<Functions<Arrays>>, Subject<Programs>, Subject<GAD<Additive>>,
                   Subject<GAD<Matrices>>, Subject<GAD<Programs>>, Subject<GAD<Dual<Additive>>>,
                   Subject<GAD<Dual<Matrices>>>, OverR<Cont<Matrices>>, OverR<Begin<Programs>>,
                   OverDualBegin, Bounded<Functions<Intervals>>, Subject<Functions<Sparsity>>,
                   Bounded<Product<Functions<categories::Arrays>, Functions<Intervals>>>,
                   Subject<Product<Functions<Arrays>, GAD<Matrices>>>, Long<Read<Text>>,
                   Long<Read<Expression>>, Long<Read<Picture>>, Long<Read<Expense>>>;
TYPED_TEST_SUITE(CartesianLaws, CartesianSubjects, Names);

TYPED_TEST(CartesianLaws, composition_has_identities_and_is_associative) {
  this->holds("category", category_laws);
}
TYPED_TEST(CartesianLaws, fork_and_projections_are_a_product) {
  this->holds("cartesian", cartesian_laws);
}
TYPED_TEST(CartesianLaws, meaning_of_compose_is_compose_of_meanings) {
  using C = typename TypeParam::Category;
  check<TypeParam>("functor", [](const RandomProgram& program, Choices& choices) {
    const C c = TypeParam::make();
    const Chain chain = random_chain(program, choices);
    return functor_laws(c, chain, law_samples(c, chain), difference_of(c, choices));
  });
}

TEST(CostLaws, costs_are_a_category) {
  check<Long<Costs>>("category", [](const RandomProgram& program, Choices& choices) {
    return category_laws(Costs(), law_samples(Costs(), random_chain(program, choices)), choices);
  });
}
TEST(CostLaws, cost_of_compose_is_sum_of_costs) {
  check<Long<Costs>>("functor", [](const RandomProgram& program, Choices& choices) {
    const Chain chain = random_chain(program, choices);
    return functor_laws(Costs(), chain, law_samples(Costs(), chain),
                        difference_of(Costs(), choices));
  });
}
TEST(CostLaws, products_are_lax_because_a_fork_pays_for_both) {
  check<Long<Costs>>("lax products", [](const RandomProgram& program, Choices& choices) {
    const Costs c;
    const auto s = law_samples(c, random_chain(program, choices));
    const Costs::Arrow gf = c.compose(s.g, s.f);
    const Costs::Arrow left = c.compose(exl(c, c.codomain(s.f), c.codomain(gf)), c.fork(s.f, gf));
    return left.cost.steps == s.f.cost.steps + gf.cost.steps && left.cost.work >= s.f.cost.work
               ? ""
               : to_string(left.cost) + " for " + to_string(s.f.cost);
  });
}
TEST(CostLaws, cost_of_a_program_is_its_reading) {
  Wish wish = smooth;
  // Steps of their own, which the driver looks through.
  wish.without.insert(wish.without.end(), {"call", "barrier"});
  for_random_programs(
      "costs: reading", 600, 30, wish, [](const RandomProgram& random, Choices& choices) {
        const Program program = random.program();
        return differ(Costs(), {{}, {}, cost(program)}, read(Costs(), program), {}, choices);
      });
}

/// Whether the derivative of the whole chain is short enough for the subject.
template <class S>
bool is_brief(const Chain& chain) {
  return derivative_at(chain.whole, chain.a).program.step_count() <= S::most_steps;
}

/// Laws of linear arrows, read from the derivatives of programs.
template <class S>
class LinearLaws : public testing::Test {
 public:
  using K = typename S::Category;
  void holds(const char* name, std::string (*law)(const K&, const Arrows<K>&, Choices&)) {
    check<S>(name, [&](const RandomProgram& program, Choices& choices) -> std::string {
      const K k = S::make();
      const Chain chain = random_chain(program, choices);
      return is_brief<S>(chain) ? law(k, derivatives_of(k, chain), choices) : "";
    });
  }
};

using LinearSubjects =
    testing::Types<Subject<Additive>, Subject<Matrices>, Subject<Programs>, Subject<Dual<Additive>>,
                   Subject<Dual<Matrices>>, Subject<Dual<Programs>>, WithR<Cont<Matrices>>,
                   Short<Cont<Programs>>, Short<Cont<Additive>>, WithR<Begin<Matrices>>,
                   WithR<Begin<Programs>>, Short<Begin<Additive>>, WithDualR<Begin<Programs>>,
                   WithDualR<Cont<Matrices>>, Subject<Product<Additive, Dual<Matrices>>>>;
TYPED_TEST_SUITE(LinearLaws, LinearSubjects, Names);

TYPED_TEST(LinearLaws, composition_has_identities_and_is_associative) {
  this->holds("category", category_laws);
}
TYPED_TEST(LinearLaws, fork_and_projections_are_a_product) {
  this->holds("cartesian", cartesian_laws);
}
TYPED_TEST(LinearLaws, join_and_injections_are_a_coproduct) {
  this->holds("coproduct", coproduct_laws);
}
TYPED_TEST(LinearLaws, product_and_coproduct_are_one) { this->holds("biproduct", biproduct_laws); }
TYPED_TEST(LinearLaws, composition_is_bilinear) { this->holds("linear", linear_laws); }
TYPED_TEST(LinearLaws, d_of_compose_is_chain_rule) {
  using K = typename TypeParam::Category;
  check<TypeParam>("functor", [](const RandomProgram& program, Choices& choices) -> std::string {
    const K k = TypeParam::make();
    const Chain chain = random_chain(program, choices);
    if (!is_brief<TypeParam>(chain)) return "";
    const LinearAtPoint whole = derivative_at(chain.whole, chain.a);
    const Arrows<K> parts = derivatives_of(k, chain);
    Checker<K> checker(k, difference_of(k, choices));
    checker.expect_equal("meaning (h . g . f) = meaning h . meaning g . meaning f",
                         read_linear(k, whole.program, whole.residuals),
                         k.compose(parts.h, k.compose(parts.g, parts.f)), parts.a);
    return checker.wrong();
  });
}

}  // namespace
}  // namespace hom::laws
