// examples/checking_a_custom_rule.cc -- check_derivatives finds a wrong rule, and says where it is
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const Tensor x = tensor({-1.0, 0.5, 2.0});

  // log(1 + exp(x)), with a derivative of one's own.
  auto value = [](Tensor t) { return log1p(exp(t)); };
  auto right = custom_jvp(value, [](Tensor t, Tensor, Tensor dt) { return sigmoid(t) * dt; });
  auto wrong = custom_jvp(value, [](Tensor t, Tensor, Tensor dt) { return tanh(t) * dt; });

  // Forward mode, reverse mode and differences, at one point. To second order, if asked.
  std::cout << check_derivatives(right, x, {.second_order = true}) << "\n";

  // Any products of arguments and results; the step that is to blame is named with its line.
  auto f = [&](Tensor t, Tensor scale) { return std::pair{t * scale, sum(scale * wrong(t))}; };
  std::cout << check_derivatives(f, x, 3.0) << "\n";

  // Where there is no derivative, differences from both sides say so.
  std::cout << check_derivatives([](Tensor t) { return sum(relu(t)); }, tensor({0.0, 1.0}));
}
