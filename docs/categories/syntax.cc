// docs/categories/syntax.cc -- point-free expressions; what is shared has a name
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
  std::cout << syntax(f, f64[{}], f64[{}]) << "\n\n";
  const auto shared = [](Tensor x) {
    const Tensor e = exp(x);
    return e / (1 + e);
  };
  std::cout << syntax(shared, f64[{}]) << "\n";
}
