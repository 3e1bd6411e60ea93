// docs/categories/cont.cc -- continuations: reverse mode as function composition
#include <hom/categories/cont.h>

#include <iostream>

#include <hom/categories/gad.h>
#include <hom/categories/matrices.h>
#include <hom/hom.h>

using namespace hom;
namespace cat = hom::categories;

int main() {
  const auto f = [](Tensor x) { return sum(sin(x) * x); };
  const Program p = program(f, f64[{3}]);
  // r is the codomain of f: a scalar. An arrow takes a row b → r to a row a → r.
  const cat::Cont<cat::Matrices> k{.k = {}, .r = {f64[{}]}};
  const auto [value, derivative] =
      cat::read(cat::GAD<cat::Cont<cat::Matrices>>{k}, p)({tensor({0.0, 1.0, 2.0})});
  std::cout << to_tensor(k.at_identity(derivative)) << "\n";
  std::cout << grad(f)(tensor({0.0, 1.0, 2.0})) << "\n";
}
