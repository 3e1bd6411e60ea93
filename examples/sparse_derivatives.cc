// examples/sparse_derivatives.cc -- Jacobians and Hessians that are mostly zero, in a few passes
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  // The energy of a chain of springs depends on neighbours only.
  const auto energy = [](Tensor x) {
    const Tensor lengths = x(Range{1}) - x(Range{0, -1});
    return 0.5 * sum(square(lengths - 1.0) + square(square(lengths)));
  };
  const auto forces = grad(energy);

  // Which forces depend on which places, for a short chain.
  std::cout << sparsity(forces)(f64[{5}]);

  // For a long one: found once, then only the passes are paid for, three whatever the length.
  const auto stiffness = sparse_hessian(energy).prepare(f64[{10000}]);
  std::cout << stiffness.pattern().entry_count() << " entries of " << 10000ll * 10000 << ", in "
            << stiffness.passes() << " passes\n";
  Tensor x = 1.5 * arange(10000, f64);
  const Csr matrix = stiffness(x);
  std::cout << "row 1: columns " << matrix.columns(Range{2, 5}) << ", values "
            << matrix.values(Range{2, 5}) << "\n";
}
