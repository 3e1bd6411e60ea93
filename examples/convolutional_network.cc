// examples/convolutional_network.cc -- two convolutions and a pool, trained to tell stripes apart
#include <cstdint>
#include <iostream>
#include <utility>

#include <hom/hom.h>

using namespace hom;

struct Network {
  BOOST_HANA_DEFINE_STRUCT(Network, (Tensor, first), (Tensor, second), (Tensor, output));
};

int main() {
  // Images of 8 × 8 with horizontal stripes (label 0) or vertical ones (label 1), and noise.
  const std::int64_t count = 32;
  const Tensor labels = arange(count) % 2;
  const Tensor wave = sin(arange(8, f32) * 2.0);
  const Tensor horizontal = reshape(wave, {8, 1, 1});
  const Tensor vertical = reshape(wave, {1, 8, 1});
  const Tensor is_vertical = reshape(labels, {count, 1, 1, 1}) == 1;
  const Tensor noise = sin(reshape(arange(count * 64, f32), {count, 8, 8, 1}) * 12.9898);
  const Tensor images = where(is_vertical, vertical, horizontal) + 0.5 * noise;

  // [batch, height, width, channels] all the way; the mean over the image leaves the channels.
  auto logits = [](const Network& net, Tensor x) {
    x = relu(conv(x, net.first, {.padding = Padding::same()}));
    x = max_pool(x, {2, 2});
    x = relu(conv(x, net.second, {.padding = Padding::same()}));
    return matmul(mean(x, {1, 2}), net.output);
  };
  auto loss = [&](const Network& net) { return cross_entropy(logits(net, images), labels); };

  const auto start = [](const Shape& shape) {
    return 0.4 * cos(reshape(arange(element_count(shape), f32) * 7.7, shape));
  };
  Network net{start({3, 3, 1, 4}), start({3, 3, 4, 8}), start({8, 2})};
  for (int step = 0; step <= 60; ++step) {
    const auto [value, gradient] = value_and_grad(loss)(net);
    if (step % 20 == 0) {
      const Tensor right = argmax(logits(net, images), -1) == labels;
      std::cout << "step " << step << "  right: " << sum(right.astype(i64)).item<int>() << " of "
                << count << "\n";
    }
    net = tree_map([](Tensor w, Tensor dw) { return w - 0.5 * dw; }, net, gradient);
  }
}
