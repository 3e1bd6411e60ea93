// examples/gaussian_process.cc -- the likelihood of a Gaussian process by cholesky, and its
// gradient in the hyperparameters
#include <cmath>
#include <iostream>
#include <numbers>

#include <hom/hom.h>

using namespace hom;

/// Logarithms, so that no step makes one of them negative.
struct Kernel {
  BOOST_HANA_DEFINE_STRUCT(Kernel, (Tensor, length), (Tensor, noise));
};

int main() {
  const Tensor x = linspace(0.0, 6.0, 25);
  const Tensor y = sin(x) + 0.1 * cos(17.0 * x);  // a wave, and what looks like noise

  // −log p(y) = ½·yᵀK⁻¹y + ½·log det K + n/2·log 2π, with K = l·lᵀ.
  auto loss = [&](const Kernel& k) {
    const Tensor distance = (expand_dims(x, 1) - x) / exp(k.length);
    const Tensor covariance = exp(-0.5 * distance * distance) + exp(2.0 * k.noise) * eye(25);
    const Tensor l = cholesky(covariance);
    const Tensor white = triangular_solve(l, y);
    return 0.5 * dot(white, white) + sum(log(diagonal(l))) +
           12.5 * std::log(2.0 * std::numbers::pi);
  };

  Kernel k{0.0, -1.0};
  for (int i = 0; i < 200; ++i) {
    const Kernel g = grad(loss)(k);
    k = tree_map([](Tensor v, Tensor dv) { return v - 0.01 * dv; }, k, g);
  }
  auto two_digits = [](const Tensor& v) { return std::round(100 * v.item()) / 100; };
  std::cout << "length " << two_digits(exp(k.length)) << ", noise " << two_digits(exp(k.noise))
            << ", loss " << two_digits(loss(k)) << "\n";
}
