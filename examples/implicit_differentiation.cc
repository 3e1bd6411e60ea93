// examples/implicit_differentiation.cc -- derivatives of a solution, whatever the solver does
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  // Kepler's equation, e.g. of the Earth: E − e·sin E = M, solved by Newton until nothing changes.
  auto residual = [](Tensor anomaly, Tensor eccentricity, Tensor mean) {
    return anomaly - eccentricity * sin(anomaly) - mean;
  };
  auto newton = [&](Tensor eccentricity, Tensor mean) {
    auto step = [&](Tensor x) {
      return x - residual(x, eccentricity, mean) / (1 - eccentricity * cos(x));
    };
    return while_loop([&](Tensor x) { return abs(residual(x, eccentricity, mean)) > 1e-14; }, step,
                      mean);
  };

  // The loop has no bound, and no reverse mode of its own. The solution has: by the theorem, from
  // the residual, with one linear solve.
  auto kepler = implicit(newton, residual);
  std::cout << "E        " << kepler(0.3, 1.0) << "\n";
  std::cout << "dE/de    " << grad(kepler)(0.3, 1.0) << "\n";
  std::cout << "dE/dM    " << grad(kepler, wrt<1>)(0.3, 1.0) << "\n";
  std::cout << "d²E/dM²  " << hessian(kepler, wrt<1>)(0.3, 1.0) << "\n";

  // In closed form dE/dM = 1 / (1 − e·cos E).
  std::cout << "         " << 1 / (1 - 0.3 * cos(kepler(0.3, 1.0))) << "\n";

  // A fixed point x = f(x, a) is the equation f(x, a) − x = 0, and iteration its solver.
  auto settle = fixed_point([](Tensor x, Tensor a) { return tanh(a * x + 0.5); }, zeros({2}));
  std::cout << "settled  " << settle(tensor({0.2, 0.6})) << "\n";
  std::cout << "slopes   " << grad([&](Tensor a) { return sum(settle(a)); })(tensor({0.2, 0.6}))
            << "\n";

  // And for a batch: each planet stops when it has arrived.
  std::cout << "planets  " << vmap(kepler, {0, unmapped})(tensor({0.01, 0.2, 0.9}), 1.0) << "\n";
}
