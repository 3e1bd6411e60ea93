// docs/categories/interval.cc -- bounds on what a function gives on a box
#include <hom/categories/interval.h>

#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
  Interval range = interval(f)(Interval{0.0, 1.0}, Interval{-1.0, 2.0});
  std::cout << range << "\n";

  // A bound holds, but forgets that both factors are one x: the range is [0, 1/4].
  const auto g = [](Tensor x) { return x * (1.0 - x); };
  std::cout << interval(g)(Interval{0.0, 1.0}) << "\n";
  // Derivatives are programs too: g is monotone where the bound of its slope has one sign.
  std::cout << interval(grad(g))(Interval{0.0, 0.25}) << "\n";

  // Undecided predicates give the hull; undefined values are marked; tensors are boxes.
  const auto h = [](Tensor x) { return where(x > 0.0, sqrt(x), -1.0); };
  std::cout << interval(h)(Interval{-4.0, 4.0}) << "\n";
  const IntervalTensor box(tensor({0.0, 1.0}), tensor({0.5, 1.0}));
  std::cout << interval([](Tensor v) { return sum(v * v); })(box) << "\n";
}
