// examples/indexing_and_views.cc -- NumPy's indexing: views of one buffer, and their gradients
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const Tensor x = reshape(arange(12), {3, 4});
  std::cout << "x                " << x << "\n";

  // Indexing is a call: integers (negative ones from the end), ranges, all, ellipsis, newaxis.
  std::cout << "x(1, -1)         " << x(1, -1) << "\n";
  std::cout << "x[2]             " << x[2] << "\n";
  std::cout << "every second     " << x(all, Range{.step = 2}) << "\n";
  std::cout << "backwards        " << x(0, Range{.step = -1}) << "\n";
  std::cout << "x(…, 0, newaxis) " << x(ellipsis, 0, newaxis).shape().size() << " axes\n";

  // None of these copies: a view is a shape, strides and an offset into the same buffer.
  const bool shares = x.T().array().buffer == x.array().buffer;
  std::cout << "shares storage   " << (shares ? "yes" : "no") << "\n";

  // Reading at computed positions, and writing: tensors are immutable, so a new one is returned.
  std::cout << "x(all, {2, 0})   " << x(all, tensor({2, 0})) << "\n";
  std::cout << "x.at(0, 1).set   " << x.at(0, Range{1, 4, 2}).set(tensor({-1, -2})) << "\n";

  // Everything differentiates. The gradient of a read is an addition at the same place.
  auto picked = [](Tensor v) { return sum(v(tensor({0, 2, 2}))) + 10.0 * v[1]; };
  std::cout << "gradient         " << grad(picked)(tensor({1.0, 2.0, 3.0, 4.0})) << "\n";
}
