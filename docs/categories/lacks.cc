// docs/categories/lacks.cc -- what a category lacks, and why
#include <iostream>

#include <hom/categories/additive.h>
#include <hom/categories/gad.h>
#include <hom/categories/interval.h>
#include <hom/categories/matrices.h>
#include <hom/categories/programs.h>
#include <hom/categories/sparsity.h>
#include <hom/hom.h>

using namespace hom;
using namespace hom::categories;

namespace {

/// The first primitive on f64 that the category lacks, if any.
template <Cartesian C>
void row(const C& c) {
  std::cout << "| " << c.name() << " | ";
  for (const Primitive* p : standard_primitives().all()) {
    const std::string why = p->dtypes.contains(f64) ? c.lacks(*p) : "";
    if (p->max_operands == 0 || why.empty()) continue;
    std::cout << "such as `" << p->name << "`: " << why << " |\n";
    return;
  }
  std::cout << "nothing |\n";
}

}  // namespace

int main() {
  std::cout << "| category | lacks |\n|---|---|\n";
  row(Functions<Arrays>{});
  row(Programs{});
  row(GAD<Matrices>{});
  row(Functions<Intervals>{});
  row(Functions<Sparsity>{});
  row(Additive{});
  row(Matrices{});
}
