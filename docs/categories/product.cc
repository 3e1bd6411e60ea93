// docs/categories/product.cc -- two readings of a program at once
#include <hom/categories/product.h>

#include <iostream>

#include <hom/categories/gad.h>
#include <hom/categories/interval.h>
#include <hom/categories/matrices.h>
#include <hom/hom.h>

using namespace hom;
namespace cat = hom::categories;

int main() {
  const Program p = program([](Tensor x) { return x * x - x; }, f64[{}]);
  using Bounds = cat::Functions<cat::Intervals>;
  const auto both = cat::read(cat::Product<cat::GAD<cat::Matrices>, Bounds>{}, p);

  const auto [value, slope] = both.first({2.0});
  std::cout << value[0] << ", slope " << to_tensor(slope) << "\n";
  std::cout << both.second({Interval{1.0, 2.0}})[0] << "\n";
}
