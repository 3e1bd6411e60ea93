// docs/categories/begin.cc -- beginnings over data: forward mode, and the walk of transpose
#include <hom/categories/begin.h>

#include <iostream>

#include <hom/categories/dual.h>
#include <hom/categories/gad.h>
#include <hom/categories/programs.h>
#include <hom/hom.h>

using namespace hom;
namespace cat = hom::categories;

int main() {
  const auto f = [](Tensor x) { return sin(x) * x; };
  const Program p = program(f, f64[{}]);
  const cat::Begin<cat::Programs> begin{.k = {}, .r = {f64[{}]}};

  const auto [value, forward] = cat::read(cat::GAD<cat::Begin<cat::Programs>>{begin}, p)({0.5});
  std::cout << "tangent: " << to_text(to_program(begin.at_identity(forward)));

  using Reverse = cat::Dual<cat::Begin<cat::Programs>>;
  const auto [same, backward] = cat::read(cat::GAD<Reverse>{{begin}}, p)({0.5});
  std::cout << "cotangent: " << to_text(to_program(begin.at_identity(backward.reversed)));
}
