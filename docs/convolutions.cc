// docs/convolutions.cc -- the snippets of convolutions.md, and what they print
#include <iostream>

#include <hom/hom.h>

using namespace hom;

namespace {

void layout() {
  const Tensor images = ones({8, 28, 28, 3});  // batch, height, width, channels
  const Tensor kernel = ones({5, 5, 3, 16});   // height, width, channels of x, channels of y
  std::cout << to_string(conv(images, kernel).type()) << "\n";
  const ConvOptions halved{.stride = {2, 2}, .padding = Padding::same()};
  std::cout << to_string(conv(images, kernel, halved).type()) << "\n";

  const Tensor signal = ones({100, 1});  // without a batch: time, channels
  std::cout << to_string(conv(signal, ones({9, 1, 4}), {.dilation = {4}}).type()) << "\n";

  const Tensor depthwise = ones({3, 3, 1, 6});  // two channels of y for each one of x
  std::cout << to_string(conv(images, depthwise, {.groups = 3}).type()) << "\n";
}

void channels_first() {
  const Tensor images = ones({8, 3, 28, 28});
  const Tensor kernel = ones({16, 3, 5, 5});
  std::cout << to_string(conv(images, kernel, {.channels = Channels::first}).type()) << "\n";
}

void transposed() {
  const Tensor kernel = ones({4, 4, 3, 16});  // that of a convolution from 3 channels to 16
  const Tensor small = ones({8, 7, 7, 16});
  const ConvTransposeOptions options{.stride = {2, 2}, .padding = {1, 1}};
  const Tensor large = conv_transpose(small, kernel, options);
  std::cout << to_string(large.type()) << "\n";
  std::cout << to_string(conv(large, kernel, {.stride = {2, 2}, .padding = {1, 1}}).type()) << "\n";
}

void pooling() {
  const Tensor x = reshape(tensor({-2.0, -1.0, 0.0, 1.0}), {4, 1});
  const PoolOptions padded{.stride = {3}, .padding = {1}};
  std::cout << ravel(max_pool(x, {3}, padded)) << "\n";
  std::cout << ravel(avg_pool(x, {3}, padded)) << "\n";

  auto largest = [](Tensor t) { return sum(max_pool(t, {2}, {.stride = {1}})); };
  std::cout << ravel(grad(largest)(reshape(tensor({1.0, 3.0, 3.0, 2.0}), {4, 1}))) << "\n";
}

void windows() {
  const Tensor x = tensor({3.0, 1.0, 4.0, 1.0, 5.0, 9.0});
  std::cout << window_max(x, {.window = {3}}) << "\n";
  std::cout << window_sum(x, {.window = {2}, .stride = {2}}) << "\n";
}

}  // namespace

int main() {
  layout();
  channels_first();
  transposed();
  pooling();
  windows();
}
