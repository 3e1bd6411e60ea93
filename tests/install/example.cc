// tests/install/example.cc -- a program outside the repository that uses the installed library
#include <cstdio>

#include <hom/hom.h>

int main() {
  auto f = [](hom::Tensor x, hom::Tensor y) { return cos(x + y * x); };
  auto [value, dx] = hom::value_and_grad(f)(0.1, 0.2);
  // cos(0.1 + 0.2 * 0.1) and -sin(0.12) * 1.2
  std::printf("%.12f %.12f\n", value.item<double>(), dx.item<double>());
}
