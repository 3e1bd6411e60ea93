// tests/benchmarks/convolution.cc -- convolutions and their pullbacks beside a matrix product of as
// many multiplications
//
// Prints processor times in ms, eager and compiled, the least of several runs, and 10⁹
// multiplications and additions a second of the compiled. Set HOM_THREADS=1. The matrix product has
// a row for each output, as the convolution's patches would, without making them.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>

#include <hom/hom.h>

using namespace hom;

namespace {

double milliseconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

template <class F, class... Operands>
void row(const char* name, double products, const F& f, const Operands&... operands) {
  auto compiled = compile(f);
  double eager_ms = 1e9, compiled_ms = 1e9;
  for (int round = 0; round < 12; ++round) {
    const double a = milliseconds([&] { f(operands...); });
    const double b = milliseconds([&] { compiled(operands...); });
    if (round == 0) continue;  // which compiles
    eager_ms = std::min(eager_ms, a);
    compiled_ms = std::min(compiled_ms, b);
  }
  std::printf("| %-46s | %9.2f | %9.2f | %7.1f |\n", name, eager_ms, compiled_ms,
              2 * products / compiled_ms / 1e6);
}

Tensor waves(const Shape& shape) { return sin(reshape(arange(element_count(shape), f32), shape)); }

void rows(const char* name, const Shape& image, const Shape& kernel, const ConvOptions& options) {
  const Tensor x = waves(image);
  const Tensor w = waves(kernel);
  const auto f = [&](Tensor a, Tensor b) { return conv(a, b, options); };
  const Tensor y = f(x, w);
  const std::int64_t terms = kernel[0] * kernel[1] * kernel[2];
  const double products = static_cast<double>(y.size()) * static_cast<double>(terms);
  const Tensor a = waves({y.size() / kernel[3], terms});
  const Tensor b = waves({terms, kernel[3]});
  const auto of_x = [f](Tensor p, Tensor q, Tensor r) {
    return vjp(f, wrt<0>)(std::move(p), std::move(q)).second(std::move(r));
  };
  const auto of_w = [f](Tensor p, Tensor q, Tensor r) {
    return vjp(f, wrt<1>)(std::move(p), std::move(q)).second(std::move(r));
  };
  std::printf("| %s\n", name);
  const auto product = [](Tensor p, Tensor q) { return matmul(p, q); };
  row("the matrix product", products, product, a, b);
  row("convolution", products, f, x, w);
  row("its pullback in x", products, of_x, x, w, y);
  row("its pullback in the kernel", products, of_w, x, w, y);
}

}  // namespace

int main() {
  const ConvOptions same{.padding = Padding::same()};
  const ConvOptions halved{.stride = {2, 2}, .padding = Padding::same()};
  rows("3 × 3, 64 channels, 8 images of 56 × 56", {8, 56, 56, 64}, {3, 3, 64, 64}, same);
  rows("the same with stride 2", {8, 56, 56, 64}, {3, 3, 64, 64}, halved);
  rows("1 × 1, 64 channels", {8, 56, 56, 64}, {1, 1, 64, 64}, same);
  rows("5 × 5, from 1 channel to 8, 32 images of 28 × 28", {32, 28, 28, 1}, {5, 5, 1, 8}, {});
  rows("3 × 3, depthwise, 64 channels", {8, 56, 56, 64}, {3, 3, 1, 64},
       {.padding = Padding::same(), .groups = 64});
}
