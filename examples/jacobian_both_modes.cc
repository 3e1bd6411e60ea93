// examples/jacobian_both_modes.cc -- the derivative as a matrix, a linear map, and its transpose
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  // Polar to Cartesian coordinates.
  auto cartesian = [](Tensor polar) {
    return stack({polar[0] * cos(polar[1]), polar[0] * sin(polar[1])});
  };
  const Tensor at = tensor({2.0, 0.0});

  // Column by column with jvp, or row by row with vjp; without a mode, whichever are fewer.
  std::cout << "forward        " << jacobian(cartesian, Mode::forward)(at) << "\n";
  std::cout << "reverse        " << jacobian(cartesian, Mode::reverse)(at) << "\n";

  // The derivative at a point is a linear map: made once, applied to many tangents …
  auto [value, map] = linearize(cartesian)(at);
  std::cout << "value          " << value << "\n";
  std::cout << "J·(1, 0)       " << map(tensor({1.0, 0.0})) << "\n";
  std::cout << "J·(0, 1)       " << map(tensor({0.0, 1.0})) << "\n";

  // … and transposed, which is reverse mode.
  auto pullback = transpose(map);
  std::cout << "transposed     " << pullback(tensor({0.0, 1.0})) << "\n";
  auto [same_value, same_pullback] = vjp(cartesian)(at);
  std::cout << "vjp            " << same_pullback(tensor({0.0, 1.0})) << "\n";

  // Any linear function can be transposed.
  auto differences = [](Tensor x) { return x(Range{1}) - x(Range{.stop = -1}); };
  std::cout << "differences    " << differences(tensor({1.0, 4.0, 9.0})) << "\n";
  std::cout << "its transpose  " << transpose(differences, f64[{3}])(tensor({1.0, 10.0})) << "\n";
}
