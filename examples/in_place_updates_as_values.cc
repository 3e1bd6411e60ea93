// examples/in_place_updates_as_values.cc -- x.at(i).set(v): updates that are values, differentiate,
// and take place in x's memory where nobody needs the old x
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const Tensor x = zeros({2, 3});

  // A new tensor; x keeps its value. Indices are those of reading, and the value broadcasts.
  std::cout << "set              " << x.at(0, -1).set(5.0) << "\n";
  std::cout << "a column         " << x.at(all, 0).add(tensor({1.0, 2.0})) << "\n";
  std::cout << "every second     " << x.at(1, Range{.step = 2}).add(1.0) << "\n";

  // Positions may be computed. `add` counts each mention, `set` keeps the last.
  const Tensor ids = tensor({2, 0, 2});
  std::cout << "a histogram      " << zeros({3}, i64).at(ids).add(1) << "\n";
  std::cout << "the last wins    " << zeros({3}).at(ids).set(tensor({1.0, 2.0, 3.0})) << "\n";
  std::cout << "rows by a mask   " << x.at(tensor({true, false})).set(7.0) << "\n";

  // One outside is ignored, unless asked otherwise.
  const Tensor outside = tensor({1, 9});
  std::cout << "dropped          " << zeros({3}).at(outside).set(1.0) << "\n";
  std::cout << "clipped          " << zeros({3}).at(outside).set(1.0, Bounds::clip) << "\n";

  // A variable is given the new tensor; copies of the old one keep their value.
  Tensor y = x;
  y.at(0) = tensor({1.0, 2.0, 3.0});
  y.at(1) += y(0);
  y.at(all, 1) *= 10.0;
  std::cout << "a variable       " << y << "\n";
  std::cout << "its old value    " << x << "\n";

  // In a loop each update writes one element and copies none: Fibonacci's numbers, in O(n).
  auto step = [](Tensor i, Tensor f) { return f.at(i).set(f(i - 1) + f(i - 2)); };
  auto fibonacci = [&](Tensor start) {
    return fori_loop(2, 10, step, zeros({10}).at(Range{0, 2}).set(start));
  };
  std::cout << "a loop           " << fibonacci(tensor({0.0, 1.0})) << "\n";

  // And its derivative: how the last number depends on the first two.
  auto last = [&](Tensor start) { return fibonacci(start)(-1); };
  std::cout << "gradient         " << grad(last)(tensor({0.0, 1.0})) << "\n";
}
