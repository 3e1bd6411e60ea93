// tests/gradbench/particle.cc -- Euler's method until the particle is on the ground
#include <hom/tests/gradbench/particle.h>

#include <cmath>

namespace hom::gradbench {
namespace {

constexpr double dt = 0.1;
/// More steps than the particle takes to fall: 352, from w = 0. Reverse mode needs a bound.
constexpr std::int64_t most_steps = 400;

double landing_by_hand(double w) {
  double x[2] = {0, 8};
  double v[2] = {0.75, 0};
  const double charges[2][2] = {{10, 10 - w}, {10, 0}};
  while (true) {
    double a[2] = {0, 0};
    for (const auto& charge : charges) {
      const double d[2] = {x[0] - charge[0], x[1] - charge[1]};
      const double distance = std::sqrt(d[0] * d[0] + d[1] * d[1]);
      for (int i = 0; i < 2; ++i) a[i] += d[i] / (distance * distance * distance);
    }
    for (int i = 0; i < 2; ++i) x[i] += dt * v[i];
    if (x[1] <= 0) {
      const double there = x[0] - x[1] / v[1] * v[0];
      return there * there;
    }
    for (int i = 0; i < 2; ++i) v[i] += dt * a[i];
  }
}

}  // namespace

Tensor landing(const Tensor& w, Mode inner) {
  const Tensor first = stack({Tensor(10.0), 10.0 - w});
  const Tensor second = tensor({10.0, 0.0});
  const auto potential = [&](const Tensor& x) {
    return 1.0 / norm(x - first) + 1.0 / norm(x - second);
  };
  const auto force = jacobian(potential, inner);
  const auto above = [](const Tensor& x, const Tensor& v) { return x(1) + dt * v(1) > 0.0; };
  const auto step = [&](const Tensor& x, const Tensor& v) {
    return std::pair{x + dt * v, v - dt * force(x)};
  };
  const std::pair start{tensor({0.0, 8.0}), tensor({0.75, 0.0})};
  const auto [x, v] = while_loop(above, step, start, {.bound = most_steps});
  // The last step, and back to the height 0.
  const Tensor below = x + dt * v;
  const Tensor ground = below - below(1) / v(1) * v;
  return square(ground(0));
}

Tensor best_landing(const Modes& modes) {
  const auto objective = [&](const Tensor& w) { return landing(w, modes.inner); };
  return argmin(objective, Tensor(0.0), modes.outer, 1000);
}

Workload particle(const Modes& modes) {
  const auto f = [inner = modes.inner](const Tensor& w) { return landing(w, inner); };
  return {.primal = prepared(f, Tensor(0.0)),
          .gradient = prepared(jacobian(f, modes.outer), Tensor(0.0)),
          .by_hand = [] { return std::vector{landing_by_hand(0)}; },
          .named = [](const Results&, const Results&) { return Named{}; }};
}

}  // namespace hom::gradbench
