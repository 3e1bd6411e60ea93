// examples/frozen_learning_rate.cc -- a closure is read when it is captured; arguments vary
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const Tensor w = tensor({1.0, 2.0});
  const Tensor dw = tensor({10.0, 10.0});
  Tensor rate = 0.1;

  // A program is captured once. The rate is in the lambda's closure, so its value at this moment is
  // in the program, …
  const Program frozen = program([&](Tensor x, Tensor dx) { return x - rate * dx; }, w, dw);
  // … whereas an argument is an input.
  const Program adjustable =
      program([](Tensor x, Tensor dx, Tensor step) { return x - step * dx; }, w, dw, rate);

  std::cout << "rate 0.1\n";
  std::cout << "  frozen      " << evaluate(frozen, {w, dw})[0] << "\n";
  std::cout << "  adjustable  " << evaluate(adjustable, {w, dw, rate})[0] << "\n";

  rate = 0.01;
  std::cout << "rate 0.01\n";
  std::cout << "  frozen      " << evaluate(frozen, {w, dw})[0] << "\n";
  std::cout << "  adjustable  " << evaluate(adjustable, {w, dw, rate})[0] << "\n";

  // grad and its kin capture the lambda at each call, so there the closure is read at each call.
  auto cost = [&](Tensor x) { return rate * sum(x * x); };
  std::cout << "grad        " << grad(cost)(w) << "\n";
  rate = 1.0;
  std::cout << "grad        " << grad(cost)(w) << "\n";
}
