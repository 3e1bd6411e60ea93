// docs/categories/additive.cc -- linear maps as functions
#include <hom/categories/additive.h>

#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const categories::Additive k;
  const categories::Environment vector{f64[{3}]};
  const auto twice = k.scale(tensor({2.0, 2.0, 2.0}));
  const auto difference =
      categories::read_linear(k, program([](Tensor x) { return x - flip(x, {0}); }, f64[{3}]));

  // f + g, and g ∘ f
  std::cout << categories::plus(k, twice, difference)({tensor({1.0, 2.0, 4.0})})[0] << "\n";
  std::cout << k.compose(difference, twice)({tensor({1.0, 2.0, 4.0})})[0] << "\n";
  // f △ g : one vector to two; inl puts zeros beside
  std::cout << k.fork(twice, difference)({tensor({1.0, 2.0, 4.0})}).size() << " results\n";
  std::cout << categories::inl(k, vector, vector)({tensor({1.0, 2.0, 4.0})})[1] << "\n";
}
