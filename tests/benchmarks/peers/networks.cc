// tests/benchmarks/peers/networks.cc -- a perceptron and a small convolutional network
#include <hom/tests/benchmarks/peers/row.h>

namespace hom::peers {
namespace {

struct Affine {
  BOOST_HANA_DEFINE_STRUCT(Affine, (Tensor, weight),  // f32[inputs, outputs]
                           (Tensor, bias));           // f32[outputs]
};

Affine affine_input(std::uint64_t stream, std::int64_t inputs, std::int64_t outputs) {
  return {weight_input(stream, {inputs, outputs}, inputs), zeros({outputs}, f32)};
}

const auto affine = [](const Affine& p, Tensor x) { return matmul(x, p.weight) + p.bias; };

struct Convolution {
  BOOST_HANA_DEFINE_STRUCT(Convolution, (Tensor, kernel),  // f32[height, width, in, out]
                           (Tensor, bias));                // f32[out]
};

struct ConvolutionalNetwork {
  BOOST_HANA_DEFINE_STRUCT(ConvolutionalNetwork, (Convolution, first), (Convolution, second),
                           (Affine, output));
};

constexpr std::int64_t classes = 10;

}  // namespace

/// width → width → width → 10 with cross-entropy.
Row mlp_row(const Specification& spec) {
  const std::int64_t width = spec.integer("width");
  const std::int64_t batch = spec.integer("batch");
  const std::string activation = spec.text("activation");
  auto forward = [=](const std::vector<Affine>& layers, Tensor x) {
    for (std::size_t i = 0; i + 1 < layers.size(); ++i)
      x = activate(activation, affine(layers[i], x));
    return affine(layers.back(), x);
  };
  auto loss = [=](const std::vector<Affine>& layers, Tensor x, Tensor labels) {
    return cross_entropy(forward(layers, x), labels);
  };
  const std::vector<Affine> layers{affine_input(3, width, width), affine_input(4, width, width),
                                   affine_input(5, width, classes)};
  return model_row(spec, layers, forward, loss, uniform_input(1, {batch, width}),
                   integer_input(2, {batch}, classes));
}

/// Two convolutions of 5 × 5 with pools of 2 × 2 on images [batch, side, side, 1], then 10 classes.
Row convolutional_row(const Specification& spec) {
  const std::int64_t batch = spec.integer("batch");
  const std::int64_t side = spec.integer("side");
  const std::int64_t channels = spec.integer("channels");
  const std::string activation = spec.text("activation");
  auto stage = [=](const Convolution& p, Tensor x) {
    x = conv(x, p.kernel, {.padding = Padding::same()}) + p.bias;
    return max_pool(activate(activation, x), {2, 2});
  };
  auto forward = [=](const ConvolutionalNetwork& p, Tensor x) {
    x = stage(p.second, stage(p.first, x));
    return affine(p.output, reshape(x, {x.shape()[0], -1}));
  };
  auto loss = [=](const ConvolutionalNetwork& p, Tensor x, Tensor labels) {
    return cross_entropy(forward(p, x), labels);
  };
  const std::int64_t left = side / 2 / 2;
  const ConvolutionalNetwork network{
      {weight_input(3, {5, 5, 1, channels}, 25), zeros({channels}, f32)},
      {weight_input(4, {5, 5, channels, 2 * channels}, 25 * channels), zeros({2 * channels}, f32)},
      affine_input(5, left * left * 2 * channels, classes)};
  return model_row(spec, network, forward, loss, uniform_input(1, {batch, side, side, 1}),
                   integer_input(2, {batch}, classes));
}

}  // namespace hom::peers
