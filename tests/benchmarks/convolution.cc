// tests/benchmarks/convolution.cc -- convolutions and their pullbacks beside a matrix product of as
// many multiplications
//
// Prints processor times in ms, the least of several runs, and 10⁹ multiplications and additions a
// second. The matrix product has a row for each output, as the convolution's patches would, without
// making them.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>

#include <hom/hom.h>

using namespace hom;

namespace {

double milliseconds(const std::function<void()>& work) {
  work();
  double least = 1e9;
  for (int round = 0; round < 7; ++round) {
    const std::clock_t start = std::clock();
    work();
    least = std::min(least, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

void row(const char* name, double products, const std::function<void()>& work) {
  const double time = milliseconds(work);
  std::printf("| %-46s | %9.2f | %7.1f |\n", name, time, 2 * products / time / 1e6);
}

Tensor waves(const Shape& shape) { return sin(reshape(arange(element_count(shape), f32), shape)); }

void rows(const char* name, const Shape& image, const Shape& kernel, const ConvOptions& options) {
  const Tensor x = waves(image);
  const Tensor w = waves(kernel);
  const auto f = [&](Tensor a, Tensor b) { return conv(a, b, options); };
  const Tensor y = f(x, w);
  const std::int64_t terms = kernel[0] * kernel[1] * kernel[2];
  const double products = static_cast<double>(y.size()) * static_cast<double>(terms);
  const auto of_x = vjp(f, wrt<0>)(x, w).second;
  const auto of_w = vjp(f, wrt<1>)(x, w).second;
  const Tensor a = waves({y.size() / kernel[3], terms});
  const Tensor b = waves({terms, kernel[3]});
  std::printf("| %s\n", name);
  row("the matrix product", products, [&] { matmul(a, b); });
  row("convolution", products, [&] { f(x, w); });
  row("its pullback in x", products, [&] { of_x(y); });
  row("its pullback in the kernel", products, [&] { of_w(y); });
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
