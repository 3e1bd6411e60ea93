// docs/linear_algebra.cc -- the snippets of linear-algebra.md, and what they print
#include <iostream>
#include <limits>

#include <hom/hom.h>

using namespace hom;

namespace {

void factors() {
  const Tensor a = tensor({{4.0, 2.0}, {2.0, 10.0}});
  const Tensor r = qr(a).r;
  std::cout << cholesky(a) << "\n" << r << "\n";
  const Eigh e = eigh(tensor({{0.0, 1.0}, {1.0, 0.0}}));
  std::cout << e.values << "\n";
  std::cout << singular_values(ones({3, 3, 2}))(all, 0) << "\n";  // a batch of three
}

void systems() {
  const Tensor a = tensor({{2.0, 1.0}, {1.0, 3.0}});
  const auto f = [](Tensor m, Tensor b) { return sum(solve(m, b)); };
  const auto [da, db] = grad(f, wrt<0, 1>)(a, tensor({3.0, 4.0}));
  std::cout << da << "\n" << db << "\n";
  const Program both = program(grad(f, wrt<0, 1>), a, tensor({3.0, 4.0}));
  int factorizations = 0;
  for (std::size_t i = 0; i < both.step_count(); ++i)
    factorizations += both.step(i).primitive.name == "lu";
  std::cout << factorizations << " factorization for the value and both gradients\n";
}

void determinants() {
  const auto det = [](Tensor a) { return determinant(a); };
  std::cout << grad(det)(tensor({{1.0, 2.0}, {2.0, 4.0}})) << "\n";
  const Tensor second = hessian(det)(zeros({2, 2}));
  std::cout << second(0, 0, 1, 1) << ", " << second(0, 1, 1, 0) << "\n";
}

void edges() {
  std::cout << cholesky(tensor({{1.0, 2.0}, {2.0, 1.0}})) << "\n";
  std::cout << expm(full({1, 1}, std::numeric_limits<double>::infinity())) << "\n";
  std::cout << determinant(zeros({0, 0})) << "\n";
  std::cout << grad([](Tensor a) { return sum(eigvalsh(a)); })(eye(2)) << "\n";
  std::cout << grad([](Tensor a) { return matrix_norm(a); })(zeros({2, 2})) << "\n";
}

}  // namespace

int main() {
  factors();
  systems();
  determinants();
  edges();
}
