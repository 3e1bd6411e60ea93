// tests/gradbench/saddle.cc -- f(p₁, p₂) = |p₁|² − |p₂|² from (1, 1), (1, 1)
#include <hom/tests/gradbench/saddle.h>

#include <cmath>

namespace hom::gradbench {
namespace {

/// More rounds than descent takes: 169. Reverse mode needs a bound.
constexpr std::int64_t most_rounds = 200;

Tensor start() { return tensor({1.0, 1.0}); }

Tensor f(const Tensor& p1, const Tensor& p2) { return sum(square(p1)) - sum(square(p2)); }

/// The p₂ that maximises f(p₁, ·).
Tensor best_answer(const Tensor& p1, Mode inner) {
  return argmin([&](const Tensor& p2) { return -f(p1, p2); }, start(), inner, most_rounds);
}

struct Outer {
  Mode inner;
  Tensor operator()(const Tensor& p1) const { return f(p1, best_answer(p1, inner)); }
};

double outer_by_hand(const std::vector<double>& p1) {
  const auto square_norm = [](const std::vector<double>& p) { return p[0] * p[0] + p[1] * p[1]; };
  const auto negated = [&](const std::vector<double>& p2) {
    return square_norm(p2) - square_norm(p1);
  };
  const auto slope = [](const std::vector<double>& p2) {
    return std::vector{2 * p2[0], 2 * p2[1]};
  };
  return -negated(argmin_by_hand(negated, slope, {1, 1}));
}

}  // namespace

Tensor saddle_point(const Modes& modes) {
  const Tensor p1 = argmin(Outer{modes.inner}, start(), modes.outer, most_rounds);
  return concat({p1, best_answer(p1, modes.inner)});
}

Workload saddle(const Modes& modes) {
  const Outer objective{modes.inner};
  return {.primal = prepared(objective, start()),
          .gradient = prepared(jacobian(objective, modes.outer), start()),
          .by_hand = [] { return std::vector{outer_by_hand({1, 1})}; },
          .named = [](const Results&, const Results&) { return Named{}; }};
}

}  // namespace hom::gradbench
