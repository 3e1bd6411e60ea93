// docs/categories/matrices.cc -- the matrix of a linear program
#include <hom/categories/matrices.h>

#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const categories::Matrices k;
  const Program running = program([](Tensor x) { return cumsum(x); }, f64[{3}]);
  const Program pair = program([](Tensor x, Tensor y) { return x - 3.0 * y; }, f64[{}], f64[{}]);
  std::cout << to_tensor(categories::read_linear(k, running)) << "\n";
  std::cout << to_tensor(categories::read_linear(k, pair)) << "\n";

  const auto f = categories::read_linear(k, running);
  std::cout << to_tensor(k.compose(f, f)) << "\n";
  std::cout << to_tensor(k.fork(f, k.id({f64[{3}]}))) << "\n";
}
