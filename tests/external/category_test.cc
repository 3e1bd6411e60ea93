// category_test.cc -- categories from outside read programs with primitives from outside, and obey
// the laws
#include "dependencies.h"
#include "signs.h"
#include "support.h"

#include <hom/categories/laws.h>

namespace extension {
namespace {

using namespace hom;
using namespace hom::categories;

using Categories = Extended;

/// Signs with rules for the extension.
Signs extended_signs() {
  Signs signs;
  signs.rules["squareplus"] = [](const Operation&, std::span<const Sign>) {
    return Sign::zero | Sign::positive;
  };
  return signs;
}

const auto f = [](Tensor x, Tensor y) {
  const Tensor z = squareplus(x) * y;
  return std::tuple{z * z, -squareplus(z + x), where(x < 0, x, -x)};
};

TEST_F(Categories, of_functions_are_interpreted) {
  const Signs signs = extended_signs();
  const Program p = program(f, f64[{3}], f64[{3}]);
  const std::vector<Sign> some = interpret(signs, p, {Sign::any, Sign::positive});
  EXPECT_EQ(to_string(some[0]), "{0, +}");
  EXPECT_EQ(to_string(some[1]), "{−, 0}");
  EXPECT_EQ(to_string(some[2]), "{−, 0, +}");
  // A primitive without a rule is an error at its line.
  const std::string message = error_of([&] {
    interpret(signs, program([](Tensor x) { return stencil(x); }, f64[{3}]), {Sign::any});
  });
  EXPECT_NE(message.find("signs: no arrow for stencil: it has no rule for signs"),
            std::string::npos)
      << message;
}

TEST_F(Categories, of_functions_bound_values) {
  const Program p = program(f, f64[{}], f64[{}]);
  for (double x : {-2.0, 0.0, 1e-200, 3.0}) {
    for (double y : {-1e-200, 0.0, 5.0}) {
      const std::vector<Tensor> values = evaluate(p, {Tensor(x), Tensor(y)});
      const std::vector<Sign> signs =
          interpret(extended_signs(), p, {sign_of(Tensor(x)), sign_of(Tensor(y))});
      for (std::size_t i = 0; i < signs.size(); ++i)
        EXPECT_TRUE(signs[i].contains(sign_of(values[i]))) << x << ", " << y << ", result " << i;
    }
  }
}

TEST_F(Categories, read_branches_and_composites) {
  const auto g = [](Tensor x) {
    return cond(x > 0, [](Tensor u) { return exp(u); }, [](Tensor u) { return -exp(u); }, x);
  };
  const Program p = program(g, f64[{}]);
  EXPECT_EQ(to_string(interpret(extended_signs(), p, {Sign::any})[0]), "{−, 0, +}");
  const auto norm = [](Tensor x) { return composite("own", [](Tensor u) { return u * u; })(x); };
  EXPECT_EQ(to_string(interpret(extended_signs(), program(norm, f64[{}]), {Sign::any})[0]),
            "{0, +}");
}

TEST_F(Categories, of_arrows_are_read) {
  const auto g = [](Tensor x, Tensor y, Tensor p) {
    const Tensor chosen =
        cond(sum(p) > 0, [](Tensor u) { return u; }, [](Tensor u) { return squareplus(u); }, x);
    return std::tuple{squareplus(y), stencil(x) * 2.0, chosen, Tensor(1.0) + zeros(f64[{}])};
  };
  const Dependencies::Arrow arrow = read(Dependencies{}, program(g, f64[{3}], f64[{}], f64[{3}]));
  const std::vector<std::vector<bool>> rows{
      {false, true, false}, {true, false, false}, {true, false, true}, {false, false, false}};
  EXPECT_EQ(arrow.rows, rows);
}

// The laws, on every way to cut a program in three.

template <class C>
void expect_laws(const C& c, const Difference<C>& difference) {
  const Program whole = program(f, f64[{3}], f64[{3}]);
  const std::vector<Tensor> inputs{tensor({-1.0, 0.0, 2.0}), tensor({3.0, 1.0, 1.0})};
  for (std::size_t first = 0; first <= whole.step_count(); ++first) {
    for (std::size_t second = first; second <= whole.step_count(); ++second) {
      const Chain chain = chain_of(whole, first, second, inputs);
      const LawSamples<C> samples = law_samples(c, chain);
      EXPECT_EQ(category_laws(c, samples, difference), "");
      EXPECT_EQ(cartesian_laws(c, samples, difference), "");
      EXPECT_EQ(functor_laws(c, chain, samples, difference), "");
    }
  }
}

TEST_F(Categories, of_functions_obey_the_laws) {
  using C = Functions<Signs>;
  expect_laws<C>({extended_signs()}, [](const C::Arrow& g, const C::Arrow& h, const Tensors& at) {
    std::vector<Sign> signs;
    for (const Tensor& x : at) signs.push_back(x.dtype().is_bool() ? Sign::any : sign_of(x));
    return g(signs) == h(signs) ? "" : "the signs differ";
  });
}

TEST_F(Categories, of_arrows_obey_the_laws) {
  using C = Dependencies;
  expect_laws<C>({}, [](const C::Arrow& g, const C::Arrow& h, const Tensors&) {
    return g.rows == h.rows ? "" : "the relations differ";
  });
}

TEST_F(Categories, that_break_a_law_are_found) {
  struct Forgetful : Dependencies {
    Arrow compose(const Arrow& g, const Arrow& f) const {
      Arrow both = Dependencies::compose(g, f);
      if (!both.rows.empty() && f.rows.size() > 1) both.rows[0].flip();
      return both;
    }
  };
  using C = Forgetful;
  const Program whole = program(f, f64[{3}], f64[{3}]);
  const Tensor x = tensor({-1.0, 0.0, 2.0});
  const LawSamples<C> samples = law_samples(C{}, chain_of(whole, 1, 3, {x, x}));
  EXPECT_NE(category_laws<C>({}, samples,
                             [](const C::Arrow& g, const C::Arrow& h, const Tensors&) {
                               return g.rows == h.rows ? "" : "the relations differ";
                             }),
            "");
}

}  // namespace
}  // namespace extension
