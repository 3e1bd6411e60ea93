// docs/categories/cost.cc -- steps and work of a program and of its derivative
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const auto f = [](Tensor x) { return sum(sin(x) * x); };
  const Cost own = cost(program(f, f64[{100}]));
  const Cost both = cost(program(value_and_grad(f), f64[{100}]));
  std::cout << own.steps << " steps, work " << own.work << "\n";
  std::cout << both.steps << " steps, work " << both.work << "\n";
}
