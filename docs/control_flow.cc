// docs/control_flow.cc -- the snippets of control-flow.md, and what they print
#include <iostream>

#include <hom/categories/linearize.h>
#include <hom/hom.h>

using namespace hom;

namespace {

void loops() {
  auto power = [](Tensor x) {
    return fori_loop(0, 5, [&](Tensor, Tensor y) { return y * x; }, 1.0);
  };
  std::cout << power(Tensor(2.0)) << ", slope " << grad(power)(2.0) << "\n";

  auto running = [](Tensor xs) {
    auto step = [](Tensor sum, Tensor x) { return std::pair{sum + x, sum + x}; };
    return scan(step, 0.0, xs);  // the last carry, and what was stacked
  };
  const auto [total, sums] = running(tensor({1.0, 2.0, 3.0, 4.0}));
  std::cout << total << ", " << sums << "\n";

  auto root = [](Tensor a) {
    return while_loop([&](Tensor x) { return abs(x * x - a) > 1e-12; },
                      [&](Tensor x) { return (x + a / x) / 2; }, a);
  };
  std::cout << root(Tensor(2.0)) << "\n";

  std::cout << map([](Tensor row) { return sum(row * row); }, ones({3, 2})) << "\n";
}

void carries() {
  auto fibonacci = [](Tensor n) {
    auto next = [](Tensor, Tensor a, Tensor b) { return std::pair{b, a + b}; };
    return fori_loop(Tensor(0), n, next, std::pair{0, 1}).first;
  };
  std::cout << fibonacci(Tensor(10)) << "\n";
}

void a_carry_that_changes() {
  auto body = [](Tensor, Tensor x) { return 0.5 * x; };
  try {
    fori_loop(0, 3, body, 8);
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
  std::cout << fori_loop(0, 3, body, 8.0) << "\n";
}

void bounds() {
  auto grow = [](Tensor x) { return 2 * x; };
  auto small = [](Tensor x) { return x < 100; };
  auto forward_only = [&](Tensor x) { return while_loop(small, grow, x); };
  auto both = [&](Tensor x) { return while_loop(small, grow, x, {.bound = 50}); };
  std::cout << jvp(forward_only)(3.0, 1.0).second << ", " << grad(both)(3.0) << "\n";
  try {
    grad(forward_only)(3.0);
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
}

void memory() {
  auto kept = [](const ScanOptions& options) {
    auto f = [&](Tensor x) {
      return fori_loop(0, 10'000, [](Tensor, Tensor y) { return sin(y); }, x, options);
    };
    const Linearization lin = linearize(program(f, f64[{100}]), {true});
    std::int64_t elements = 0;
    for (std::size_t i = 0; i < lin.residual_count; ++i) {
      const TensorType type = lin.linear.input_types()[i];
      if (type.dtype.is_float()) elements += type.size();
    }
    return elements / 100;
  };
  std::cout << kept({}) << " vectors, or " << kept({.checkpoint = true}) << "\n";
}

void branches() {
  auto activation = [](Tensor kind, Tensor x) {
    auto linear = [](Tensor t) { return t; };
    auto squashed = [](Tensor t) { return tanh(t); };
    auto rectified = [](Tensor t) { return relu(t); };
    return switch_(kind, std::tuple{linear, squashed, rectified}, x);
  };
  std::cout << activation(Tensor(2), Tensor(-3.0)) << ", " << activation(Tensor(0), Tensor(-3.0))
            << "\n";
}

void lanes() {
  auto halvings = [](Tensor n) {
    auto step = [](Tensor m, Tensor count) { return std::pair{m / 2, count + 1}; };
    return while_loop([](Tensor m, Tensor) { return m > 1; }, step, std::pair{n, 0}).second;
  };
  std::cout << vmap(halvings)(tensor({1, 5, 1000})) << "\n";
}

}  // namespace

int main() {
  loops();
  carries();
  a_carry_that_changes();
  bounds();
  memory();
  branches();
  lanes();
}
