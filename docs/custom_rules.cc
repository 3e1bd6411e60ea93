// docs/custom_rules.cc -- the snippets of custom-rules.md, and what they print
#include <iostream>

#include <hom/hom.h>

using namespace hom;

namespace {

void of_forward_mode() {
  auto plain = [](Tensor x) { return log(1 + exp(x)); };
  auto softplus_of_ours =
      custom_jvp(plain, [](Tensor x, Tensor /*y*/, Tensor dx) { return dx / (1 + exp(-x)); });
  std::cout << grad(plain)(1000.0) << ", " << grad(softplus_of_ours)(1000.0) << "\n";
}

void of_reverse_mode() {
  auto clipped =
      custom_vjp([](Tensor x) { return x; },                                     // the function
                 [](Tensor x) { return std::pair{x, std::tuple<>()}; },          // with residuals
                 [](std::tuple<>, Tensor ct) { return clamp(ct, -1.0, 1.0); });  // backwards
  auto f = [&](Tensor x) { return sum(clipped(x) * tensor({0.5, 40.0})); };
  std::cout << grad(f)(ones({2})) << "\n";
  try {
    jvp(f)(ones({2}), ones({2}));
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
}

void of_a_linear_function() {
  auto forward = [](Tensor a, Tensor b) {  // a x = b for lower-triangular a
    auto row = [&](Tensor i, Tensor x) { return x.at(i).set((b(i) - dot(a(i), x)) / a(i)(i)); };
    return fori_loop(0, b.extent(0), row, zeros_like(b));
  };
  auto backward = [=](Tensor a, Tensor ct) {  // aᵀ x = ct: the same from the other end
    return flip(forward(flip(a, {0, 1}).T(), flip(ct, {0})), {0});
  };
  auto solve = custom_linear(forward, backward);
  const Tensor a = tensor({{2.0, 0.0}, {1.0, 4.0}});
  std::cout << solve(a, tensor({2.0, 9.0})) << ", "
            << grad([&](Tensor b) { return sum(solve(a, b)); })(tensor({2.0, 9.0})) << "\n";
}

void of_closures() {
  try {
    grad([](Tensor scale) {
      auto rule = [&](Tensor, Tensor, Tensor dx) { return dx * scale; };
      auto scaled = custom_jvp([&](Tensor x) { return x * scale; }, rule);
      return scaled(3.0);
    })(2.0);
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
}

void of_memory() {
  auto block = [](Tensor x) { return sin(exp(-x * x)) + x; };
  auto deep = [&](Tensor x) {
    for (int i = 0; i < 3; ++i) x = checkpoint(block)(x);
    return sum(x);
  };
  std::cout << grad(deep)(tensor({0.5, 1.0})) << "\n";
}

void of_solutions() {
  auto root = implicit(
      [](Tensor a) {  // however it is found
        return while_loop([&](Tensor x) { return abs(x * x - a) > 1e-12; },
                          [&](Tensor x) { return (x + a / x) / 2; }, a);
      },
      [](Tensor x, Tensor a) { return x * x - a; });  // what is zero there
  std::cout << root(Tensor(4.0)) << ", " << grad(root)(4.0) << ", " << grad(grad(root))(4.0)
            << "\n";
  auto settle = fixed_point([](Tensor x, Tensor a) { return cos(a * x); }, 1.0);
  std::cout << settle(Tensor(1.0)) << ", " << grad(settle)(1.0) << "\n";
}

}  // namespace

int main() {
  of_forward_mode();
  of_reverse_mode();
  of_a_linear_function();
  of_closures();
  of_memory();
  of_solutions();
}
