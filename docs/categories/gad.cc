// docs/categories/gad.cc -- one function, differentiated into three categories
#include <hom/categories/gad.h>

#include <iostream>

#include <hom/categories/additive.h>
#include <hom/categories/dual.h>
#include <hom/categories/matrices.h>
#include <hom/hom.h>

using namespace hom;
namespace cat = hom::categories;

int main() {
  const auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
  const Program p = program(f, f64[{}], f64[{}]);

  // Forwards: the derivative takes a tangent of (x, y).
  const auto [value, derivative] = cat::read(cat::GAD<cat::Additive>{}, p)({0.1, 0.2});
  std::cout << value[0] << ", along (1, -1): " << derivative({1.0, -1.0})[0] << "\n";

  // As a Jacobian.
  const auto [same, jacobian] = cat::read(cat::GAD<cat::Matrices>{}, p)({0.1, 0.2});
  std::cout << to_tensor(jacobian) << "\n";

  // Backwards: it takes a cotangent of the result.
  const auto [again, dual] = cat::read(cat::GAD<cat::Dual<cat::Additive>>{}, p)({0.1, 0.2});
  const cat::Tensors gradient = dual.reversed({1.0});
  std::cout << gradient[0] << ", " << gradient[1] << "\n";
}
