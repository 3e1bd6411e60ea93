// docs/categories/sparsity.cc -- which inputs each result depends on, and what that saves
#include <hom/categories/sparsity.h>

#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  // Each difference depends on two neighbours: two passes give the Jacobian, of any size.
  const auto f = [](Tensor x) { return square(x(Range{1}) - x(Range{0, -1})); };
  std::cout << sparsity(f)(f64[{5}]);
  const auto J = sparse_jacobian(f).prepare(f64[{1000}]);
  std::cout << J.pattern().entry_count() << " entries, " << J.passes() << " passes\n";

  const Csr d = sparse_jacobian(f)(tensor({1.0, 2.0, 4.0}));
  std::cout << d.rows << "\n" << d.columns << "\n" << d.values << "\n";

  // Positions that are known are exact; unknown ones may be any.
  const auto g = [](Tensor x, Tensor i) { return take(x, i); };
  std::cout << sparsity(g)(f64[{3}], tensor({2, 0}));
  std::cout << sparsity(g)(f64[{3}], i32[{2}]);

  // A Hessian is symmetric: what is dense in one row needs two passes only.
  const auto h = [](Tensor x) { return x(0) * sum(sin(x)); };
  std::cout << sparse_hessian(h).prepare(f64[{1000}]).passes() << " passes\n";
}
