// tests/gradbench/ode.cc -- Runge and Kutta's method as a loop over tensors
#include <hom/tests/gradbench/ode.h>

namespace hom::gradbench {
namespace {

/// y(2) of y₀′ = x₀, yᵢ′ = xᵢ·yᵢ₋₁, y(0) = 0, in so many steps.
struct Solution {
  std::int64_t steps;

  Tensor operator()(const Tensor& x) const {
    const double h = 2.0 / static_cast<double>(steps);
    const auto slope = [&](const Tensor& y) { return x * concat({ones({1}), y(Range{0, -1})}); };
    const auto step = [&](const Tensor&, const Tensor& y) {
      const Tensor k1 = slope(y);
      const Tensor k2 = slope(y + h / 2 * k1);
      const Tensor k3 = slope(y + h / 2 * k2);
      const Tensor k4 = slope(y + h * k3);
      return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    };
    return fori_loop(0, steps, step, zeros_like(x));
  }
};

}  // namespace

Workload ode(const Records& in) {
  const Solution f{in.integer("s")};
  const Tensor x = in["x"];
  const auto last = [f](const Tensor& rates) { return f(rates)(-1); };

  const auto by_hand = [s = f.steps, rates = x.to_vector()] {
    const std::size_t n = rates.size();
    const double h = 2.0 / static_cast<double>(s);
    std::vector<double> y(n, 0.0), k1(n), k2(n), k3(n), k4(n), at(n);
    const auto slope = [&](const std::vector<double>& from, std::vector<double>& to) {
      to[0] = rates[0];
      for (std::size_t i = 1; i < n; ++i) to[i] = rates[i] * from[i - 1];
    };
    for (std::int64_t step = 0; step < s; ++step) {
      slope(y, k1);
      for (std::size_t i = 0; i < n; ++i) at[i] = y[i] + h / 2 * k1[i];
      slope(at, k2);
      for (std::size_t i = 0; i < n; ++i) at[i] = y[i] + h / 2 * k2[i];
      slope(at, k3);
      for (std::size_t i = 0; i < n; ++i) at[i] = y[i] + h * k3[i];
      slope(at, k4);
      for (std::size_t i = 0; i < n; ++i) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    return y;
  };

  return {.primal = prepared(f, x),
          .gradient = prepared(grad(last), x),
          .by_hand = by_hand,
          .named = [](const Results& primal, const Results& gradient) {
            return joined(name_in_order({"primal"}, primal),
                          name_in_order({"gradient_of_last"}, gradient));
          }};
}

}  // namespace hom::gradbench
