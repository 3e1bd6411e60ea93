// tests/benchmarks/capture.cc -- what recording, differentiating, evaluating and eager execution
// cost per step
//
// Prints a table in ns, each figure the best of several rounds, over chains of sin and add at
// lengths 10² to 10⁶.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include <hom/hom.h>

using namespace hom;

namespace {

/// Best of `rounds` runs, in ns per unit of work.
double best(int rounds, double units, const std::function<void()>& work) {
  double shortest = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> elapsed =
        std::chrono::steady_clock::now() - start;
    shortest = std::min(shortest, elapsed.count());
  }
  return shortest / units;
}

/// x ↦ sin(x) + x, n/2 times: n steps.
auto chain(int n) {
  return [n](Tensor x) {
    for (int i = 0; i < n / 2; ++i) x = sin(x) + x;
    return x;
  };
}

void chains() {
  std::printf("%10s %10s %14s %14s %14s %14s %12s\n", "steps", "record", "differentiate",
              "per its step", "evaluate", "evaluate grad", "eager");
  for (int n : {100, 1000, 10000, 100000, 1000000}) {
    const int rounds = std::clamp(1000000 / n, 3, 200);
    const auto f = chain(n);
    Program p;
    Program g;
    const double record = best(rounds, n, [&] { p = program(f, f64[{}]); });
    const double differentiate = best(
        std::min(rounds, 20), n, [&] { g = value_and_gradient(p, {true}, Location::current()); });
    const double evaluate_value =
        best(std::min(rounds, 20), n, [&] { evaluate(p, {Tensor(0.5)}); });
    const auto gradient_steps = static_cast<double>(g.step_count());
    const double evaluate_gradient =
        best(std::min(rounds, 20), gradient_steps, [&] { evaluate(g, {Tensor(0.5)}); });
    const double eager = best(std::min(rounds, 20), n, [&] { f(Tensor(0.5)); });
    std::printf("%10d %10.0f %14.0f %14.0f %14.0f %14.0f %12.0f\n", n, record, differentiate,
                differentiate * n / gradient_steps, evaluate_value, evaluate_gradient, eager);
  }
}

void eager_operations() {
  std::printf("\n%-28s %10s %10s %10s %10s   (eager, ns per operation, f32)\n", "elements", "1",
              "16", "256", "4096");
  const auto row = [](const char* name, const std::function<Tensor(const Tensor&)>& operation) {
    std::printf("%-28s", name);
    for (std::int64_t n : {1, 16, 256, 4096}) {
      const Tensor x = uniform(key(1), {n});
      std::printf(" %10.0f", best(5, 2000, [&] {
                    for (int i = 0; i < 2000; ++i) operation(x);
                  }));
    }
    std::printf("\n");
  };
  row("add", [](const Tensor& x) { return x + x; });
  row("mul by a number", [](const Tensor& x) { return 2.5 * x; });
  row("exp", [](const Tensor& x) { return exp(x); });
  row("sum", [](const Tensor& x) { return sum(x); });
  row("flip (a view)", [](const Tensor& x) { return flip(x, {0}); });
  row("grad of sum(sin x)",
      [](const Tensor& x) { return grad([](Tensor y) { return sum(sin(y)); })(x); });
}

}  // namespace

int main() {
  std::printf(
      "ns per step; `differentiate` is per step of the function, `per its step` per step of the "
      "gradient program\n\n");
  chains();
  eager_operations();
}
