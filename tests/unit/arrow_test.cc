// tests/unit/arrow_test.cc -- the laws of composition and products, pointwise and as programs
//
// Equal arrows are checked twice: on random inputs, element by element, and as captured programs,
// which are equal because combinators leave no trace.
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace {

using namespace hom;

std::mt19937& random_source() {
  static std::mt19937 source(20240229);
  return source;
}

Tensor random_vector() {
  std::normal_distribution<double> normal;
  std::vector<double> values(3);
  for (double& value : values) value = normal(random_source());
  return tensor(values);
}

template <class T>
bool equal(const T& a, const T& b) {
  const std::vector<Tensor> left = leaves(a);
  const std::vector<Tensor> right = leaves(b);
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!array_equal(left[i], right[i], true)) return false;
  }
  return true;
}

/// What each output of a program computes, numbered so that equal terms have equal numbers in every
/// program: steps in another order are the same arrow, because what C++ evaluates first is its own
/// affair.
class Terms {
 public:
  std::vector<int> outputs(const Program& p) {
    std::vector<int> term(p.slot_count());
    for (std::size_t i = 0; i < p.inputs().size(); ++i)
      term[p.inputs()[i]] = -static_cast<int>(i) - 1;
    for (std::size_t i = 0; i < p.step_count(); ++i) {
      const Step step = p.step(i);
      std::string text = step.primitive.name;
      for (const auto& [name, value] : step.attributes)
        text += " " + std::string(name) + "=" + to_string(value);
      for (Slot operand : step.operands) text += " " + std::to_string(term[operand]);
      term[step.first_result] =
          numbers_.emplace(text, static_cast<int>(numbers_.size())).first->second;
    }
    std::vector<int> result;
    for (Slot slot : p.outputs()) result.push_back(term[slot]);
    return result;
  }

 private:
  std::map<std::string, int> numbers_;
};

/// f = g on `Arity` vectors: as functions on random inputs, and as programs of the same steps.
template <std::size_t Arity, class F, class G>
void expect_equal_arrows(const F& f, const G& g, const Location& at = Location::current()) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<Tensor> x{(static_cast<void>(I), random_vector())...};
      EXPECT_TRUE(equal(f(x[I]...), g(x[I]...))) << "line " << at.line();
    }
    const Program of_f = program(f, (static_cast<void>(I), f64[{3}])...);
    const Program of_g = program(g, (static_cast<void>(I), f64[{3}])...);
    Terms terms;
    EXPECT_EQ(terms.outputs(of_f), terms.outputs(of_g)) << "line " << at.line();
    EXPECT_EQ(of_f.step_count(), of_g.step_count()) << "line " << at.line();
    EXPECT_EQ(of_f.codomain(), of_g.codomain()) << "line " << at.line();
  }(std::make_index_sequence<Arity>());
}

/// The same program to the last step.
template <class F, class G>
void expect_same_program(const F& f, const G& g, const Location& at = Location::current()) {
  const Program of_f = program(f, f64[{3}]);
  const Program of_g = program(g, f64[{3}]);
  EXPECT_TRUE(of_f == of_g) << "line " << at.line();
  EXPECT_EQ(of_f.hash(), of_g.hash()) << "line " << at.line();
}

// Arrows of one argument, and of two.
const auto f = arrow([](Tensor x) { return sin(x) * 2; });
const auto g = arrow([](Tensor x) { return x * x + 1; });
const auto h = arrow([](Tensor x) { return exp(-x); });
const auto two = arrow([](Tensor x, Tensor y) { return x * cos(y); });
const auto pair_of = arrow([](Tensor x) { return std::tuple{x + 1, x * 3}; });

TEST(Arrows, id_is_neutral) {
  expect_equal_arrows<1>(arrows::id >> f, f);
  expect_equal_arrows<1>(f >> arrows::id, f);
  expect_equal_arrows<2>(two >> arrows::id, two);
  expect_equal_arrows<1>(compose(f, arrows::id), f);
  expect_equal_arrows<1>(compose(arrows::id, f), f);
}

TEST(Arrows, equal_arrows_are_equal_programs) {
  expect_same_program(f >> arrows::id, f);
  expect_same_program(arrows::id >> f, f);
  expect_same_program(fork(f, g) >> arrows::exr, g);
  expect_same_program((f >> g) >> h, f >> (g >> h));
  expect_same_program(compose(g, f), [](Tensor x) { return g(f(x)); });
  expect_same_program(arrows::dup >> arrows::mul, [](Tensor x) { return x * x; });
  expect_same_program([](Tensor x) { return curry(two)(x)(x); },
                      [](Tensor x) { return two(x, x); });
  EXPECT_FALSE(program(f, f64[{3}]) == program(g, f64[{3}]));
}

TEST(Arrows, composition_is_associative) {
  expect_equal_arrows<1>((f >> g) >> h, f >> (g >> h));
  expect_equal_arrows<2>((two >> g) >> h, two >> (g >> h));
  expect_equal_arrows<1>(compose(compose(h, g), f), compose(h, compose(g, f)));
}

TEST(Arrows, then_and_compose_are_the_same_in_opposite_order) {
  expect_equal_arrows<1>(f >> g, compose(g, f));
  expect_equal_arrows<1>(f >> g, [](Tensor x) { return g(f(x)); });
}

TEST(Arrows, projections_undo_fork) {
  expect_equal_arrows<1>(fork(f, g) >> arrows::exl, f);
  expect_equal_arrows<1>(fork(f, g) >> arrows::exr, g);
  expect_equal_arrows<2>(fork(two, arrows::exl) >> arrows::exl, two);
}

TEST(Arrows, fork_is_unique) {
  // h = (exl ∘ h) △ (exr ∘ h)
  expect_equal_arrows<1>(fork(pair_of >> arrows::exl, pair_of >> arrows::exr), pair_of);
  expect_equal_arrows<2>(fork(arrows::exl, arrows::exr),
                         [](Tensor x, Tensor y) { return std::tuple{x, y}; });
}

TEST(Arrows, composition_distributes_over_fork) {
  // (g △ h) ∘ f = (g ∘ f) △ (h ∘ f)
  expect_equal_arrows<1>(f >> fork(g, h), fork(f >> g, f >> h));
}

TEST(Arrows, fork_takes_any_number) {
  expect_equal_arrows<1>(fork(f, g, h), [](Tensor x) { return std::tuple{f(x), g(x), h(x)}; });
  EXPECT_EQ(std::tuple_size_v<decltype(fork(f, g, h, f, g)(Tensor(1.0)))>, 5u);
}

TEST(Arrows, dup_forks_identities) {
  expect_equal_arrows<1>(arrows::dup, fork(arrows::id, arrows::id));
  expect_equal_arrows<1>(fork(f, g), arrows::dup >> cross(f, g));
  expect_equal_arrows<1>(arrows::dup >> arrows::exl, arrows::id);
  expect_equal_arrows<1>(arrows::dup >> arrows::exr, arrows::id);
  expect_equal_arrows<1>(arrows::dup >> arrows::swap, arrows::dup);
}

TEST(Arrows, cross_is_a_functor) {
  expect_equal_arrows<2>(cross(arrows::id, arrows::id), fork(arrows::exl, arrows::exr));
  expect_equal_arrows<2>(cross(f, g) >> cross(g, h), cross(f >> g, g >> h));
  expect_equal_arrows<2>(cross(f, g), fork(arrows::exl >> f, arrows::exr >> g));
  expect_equal_arrows<1>(fork(f, g) >> cross(g, h), fork(f >> g, g >> h));
}

TEST(Arrows, projections_are_natural) {
  expect_equal_arrows<2>(cross(f, g) >> arrows::exl, arrows::exl >> f);
  expect_equal_arrows<2>(cross(f, g) >> arrows::exr, arrows::exr >> g);
}

TEST(Arrows, swap_is_its_own_inverse_and_natural) {
  expect_equal_arrows<2>(arrows::swap >> arrows::swap, fork(arrows::exl, arrows::exr));
  expect_equal_arrows<2>(arrows::swap, fork(arrows::exr, arrows::exl));
  expect_equal_arrows<2>(cross(f, g) >> arrows::swap, arrows::swap >> cross(g, f));
}

TEST(Arrows, join_is_jam_after_cross) {
  expect_equal_arrows<2>(join(f, g), cross(f, g) >> arrows::jam);
  expect_equal_arrows<2>(join(arrows::id, arrows::id), arrows::jam);
  expect_equal_arrows<2>(arrows::jam, arrows::add);
}

TEST(Arrows, curry_and_uncurry_are_inverse) {
  expect_equal_arrows<2>(uncurry(curry(two)), two);
  const auto curried = [](Tensor x) { return [x](Tensor y) { return x * cos(y); }; };
  expect_equal_arrows<2>(uncurry(curry(uncurry(curried))), uncurry(curried));
  for (int trial = 0; trial < 20; ++trial) {
    const Tensor x = random_vector();
    const Tensor y = random_vector();
    EXPECT_TRUE(array_equal(curry(two)(x)(y), two(x, y)));
  }
}

TEST(Arrows, apply_evaluates_what_curry_holds) {
  // apply ∘ (curry f × id) = f
  expect_equal_arrows<2>([](Tensor x, Tensor y) { return arrows::apply(curry(two)(x), y); }, two);
  expect_equal_arrows<2>(cross(curry(two), arrows::id) >> arrows::apply, two);
  const auto three = [](Tensor x, Tensor y, Tensor z) { return x * y + z; };
  expect_equal_arrows<3>(uncurry(curry(three)), three);
  // One argument at a time.
  const auto by_one = [&](Tensor x) {
    return curry([=](Tensor y, Tensor z) { return three(x, y, z); });
  };
  expect_equal_arrows<3>([&](Tensor x, Tensor y, Tensor z) { return by_one(x)(y)(z); }, three);
}

TEST(Arrows, tuples_and_pairs_spread_over_arguments) {
  const auto as_pair = arrow([](Tensor x) { return std::pair{x, 2 * x}; });
  const auto three = [](Tensor x, Tensor y, Tensor z) { return x + y * z; };
  expect_equal_arrows<1>(as_pair >> arrows::sub, [](Tensor x) { return x - 2 * x; });
  expect_equal_arrows<1>(fork(f, g, h) >> three, [&](Tensor x) { return three(f(x), g(x), h(x)); });
  // Inside a product, cross spreads once more.
  const auto inner = [](Tensor x, Tensor y) { return std::tuple{std::tuple{x, y}, y}; };
  expect_equal_arrows<2>(arrow(inner) >> cross(arrows::mul, f),
                         [](Tensor x, Tensor y) { return std::tuple{x * y, f(y)}; });
  // Vectors and structs are one argument.
  const auto listed = arrow([](Tensor x) { return std::vector<Tensor>{x, x}; });
  expect_equal_arrows<1>(
      listed >> [](const std::vector<Tensor>& v) { return v[0] + v[1]; },
      [](Tensor x) { return x + x; });
}

TEST(Arrows, nothing_is_left_over_from_no_arguments) {
  const auto unit = arrow([](Tensor) { return std::tuple<>{}; });
  const auto constant = [] { return Tensor(1.0); };
  EXPECT_EQ((unit >> constant)(Tensor(5.0)).item(), 1);
}

TEST(Arrows, then_needs_an_arrow) {
  const auto lambda = [](Tensor x) { return x; };
  using Lambda = decltype(lambda);
  constexpr auto composes = []<class F, class G>(F*, G*) { return requires(F a, G b) { a >> b; }; };
  static_assert(!composes(static_cast<Lambda*>(nullptr), static_cast<Lambda*>(nullptr)));
  static_assert(composes(static_cast<const decltype(f)*>(nullptr), static_cast<Lambda*>(nullptr)));
  static_assert(composes(static_cast<Lambda*>(nullptr), static_cast<const decltype(f)*>(nullptr)));
}

TEST(Arrows, an_arrow_of_an_arrow_is_itself) {
  static_assert(std::is_same_v<decltype(arrow(f)), std::remove_const_t<decltype(f)>>);
  expect_equal_arrows<1>(arrow(arrow(f)), f);
}

TEST(Arrows, operations_as_arrows_are_the_operations) {
  expect_equal_arrows<1>(arrows::sin, [](Tensor x) { return sin(x); });
  expect_equal_arrows<1>(arrows::exp >> arrows::log1p >> arrows::tanh,
                         [](Tensor x) { return tanh(log1p(exp(x))); });
  expect_equal_arrows<1>(arrows::abs >> arrows::sqrt >> arrows::neg,
                         [](Tensor x) { return -sqrt(abs(x)); });
  expect_equal_arrows<1>(arrows::sum, [](Tensor x) { return sum(x); });
  expect_equal_arrows<1>(arrows::dup >> arrows::mul, [](Tensor x) { return x * x; });
  expect_equal_arrows<2>(arrows::add, [](Tensor x, Tensor y) { return x + y; });
  expect_equal_arrows<2>(arrows::sub, [](Tensor x, Tensor y) { return x - y; });
  expect_equal_arrows<2>(arrows::div, [](Tensor x, Tensor y) { return x / y; });
  expect_equal_arrows<2>(arrows::rem, [](Tensor x, Tensor y) { return x % y; });
  expect_equal_arrows<2>(arrows::pow, [](Tensor x, Tensor y) { return pow(x, y); });
  expect_equal_arrows<2>(arrows::maximum, [](Tensor x, Tensor y) { return maximum(x, y); });
  expect_equal_arrows<2>(arrows::minimum, [](Tensor x, Tensor y) { return minimum(x, y); });
  expect_equal_arrows<2>(arrows::atan2, [](Tensor x, Tensor y) { return atan2(x, y); });
  expect_equal_arrows<2>(arrows::matmul, [](Tensor x, Tensor y) { return matmul(x, y); });
  const Tensor c = tensor({true, false});
  EXPECT_TRUE(array_equal(arrows::where(c, tensor({1, 2}), tensor({3, 4})), tensor({1, 4})));
}

TEST(Arrows, arrows_differentiate_like_functions) {
  const auto chain = arrows::dup >> arrows::mul >> arrows::sin;
  EXPECT_NEAR(grad(chain)(0.7).item(), std::cos(0.49) * 1.4, 1e-15);
  EXPECT_NEAR(grad(chain >> arrow([](Tensor x) { return 2 * x; }))(0.7).item(),
              2 * std::cos(0.49) * 1.4, 1e-15);
  EXPECT_EQ(program(grad(chain), f64[{}]),
            program(grad([](Tensor x) { return sin(x * x); }), f64[{}]));
}

TEST(Arrows, linear_arrows_transpose_by_duality) {
  const auto dup = transpose(arrows::dup, f64[{}])(std::tuple{2.0, 5.0});
  EXPECT_EQ(dup.item(), 7);
  const auto [a, b] = transpose(arrows::jam, f64[{}], f64[{}])(3.0);
  EXPECT_EQ(a.item(), 3);
  EXPECT_EQ(b.item(), 3);
  const auto [left, right] = transpose(arrows::exl, f64[{}], f64[{}])(4.0);
  EXPECT_EQ(left.item(), 4);
  EXPECT_EQ(right.item(), 0);
  const auto [first, second] = transpose(arrows::swap, f64[{}], f64[{}])(std::tuple{1.0, 2.0});
  EXPECT_EQ(first.item(), 2);
  EXPECT_EQ(second.item(), 1);
}

}  // namespace
