// docs/categories/dual.cc -- transposes: what was a product comes back as a sum
#include <hom/categories/dual.h>

#include <iostream>

#include <hom/categories/additive.h>
#include <hom/categories/matrices.h>
#include <hom/hom.h>

using namespace hom;
namespace cat = hom::categories;

int main() {
  const Program total = program([](Tensor x) { return sum(x); }, f64[{3}]);
  const auto dual = cat::read_linear(cat::Dual<cat::Additive>{}, total);
  std::cout << dual.reversed({5.0})[0] << "\n";  // a sum comes back as a broadcast

  const Program running = program([](Tensor x) { return cumsum(x); }, f64[{3}]);
  std::cout << to_tensor(cat::read_linear(cat::Matrices{}, running)) << "\n";
  const auto transposed = cat::read_linear(cat::Dual<cat::Matrices>{}, running);
  std::cout << to_tensor(transposed.reversed) << "\n";
}
