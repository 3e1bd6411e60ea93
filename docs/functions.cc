// docs/functions.cc -- the snippets of functions.md, and what they print
#include <iostream>

#include <hom/hom.h>

using namespace hom;

namespace {

void sorting() {
  const Tensor x = tensor({3.0, 1.0, 2.0});
  std::cout << sort(x) << ", from " << argsort(x) << "\n";
  const TopK best = top_k(x, 2);
  std::cout << best.values << " at " << best.indices << "\n";
  const auto f = [](Tensor t) { return sum(sort(t) * tensor({1.0, 10.0, 100.0})); };
  std::cout << grad(f)(x) << "\n";
  std::cout << median(tensor({5.0, 1.0, 4.0, 2.0})) << ", "
            << searchsorted(tensor({1, 3, 5}), tensor({0, 3, 9})) << "\n";
}

void special() {
  const auto f = [](Tensor x) { return lgamma(x); };
  std::cout << grad(f)(1.0) << ", " << grad(grad(f))(1.0) << "\n";
  std::cout << log_ndtr(Tensor(-40.0)) << ", " << ndtri(Tensor(1e-20)) << "\n";
}

void spectra() {
  const Complex y = fft(tensor({1.0, 2.0, 3.0, 4.0}));
  std::cout << y.re << ", " << y.im << "\n";
  const auto convolved = [](Tensor a, Tensor b) { return irfft(rfft(a) * rfft(b), 4); };
  std::cout << convolved(tensor({1.0, 0.0, 0.0, 1.0}), tensor({1.0, 2.0, 3.0, 4.0})) << "\n";
  const auto energy = [](Tensor x) { return sum(abs_squared(fft(x))); };
  std::cout << grad(energy)(tensor({1.0, 2.0})) << "\n";
}

}  // namespace

int main() {
  sorting();
  special();
  spectra();
}
