// examples/gradient_of_a_struct.cc -- parameters in a struct, and a gradient with the same fields
#include <iostream>

#include <hom/hom.h>

using namespace hom;

struct Affine {
  BOOST_HANA_DEFINE_STRUCT(Affine, (Tensor, weight), (Tensor, bias));
};

int main() {
  auto affine = [](const Affine& p, Tensor x) { return matmul(x, p.weight) + p.bias; };
  auto loss = [&](const Affine& p, Tensor x, Tensor y) {
    return mean_squared_error(affine(p, x), y);
  };

  // The line y = 3x − 1, to be found again from four of its points.
  const Tensor x = tensor({{0.0}, {1.0}, {2.0}, {3.0}});
  const Tensor y = 3.0 * x - 1.0;
  Affine p{zeros({1, 1}), zeros({1})};

  auto [first, gradient] = value_and_grad(loss)(p, x, y);
  std::cout << "loss before      " << first << "\n";
  std::cout << "d loss/d weight  " << gradient.weight << "\n";
  std::cout << "d loss/d bias    " << gradient.bias << "\n";

  for (int i = 0; i < 400; ++i) {
    const Affine g = grad(loss)(p, x, y);
    p = tree_map([](Tensor w, Tensor dw) { return w - 0.1 * dw; }, p, g);
  }
  std::cout << "weight           " << round(p.weight * 1000.0) / 1000.0 << "\n";
  std::cout << "bias             " << round(p.bias * 1000.0) / 1000.0 << "\n";
}
