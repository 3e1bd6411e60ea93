// tests/benchmarks/peers/sequences.cc -- an LSTM by scan, and a block of a GPT
#include <hom/tests/benchmarks/peers/row.h>

namespace hom::peers {
namespace {

struct Lstm {
  BOOST_HANA_DEFINE_STRUCT(Lstm, (Tensor, input),  // f32[inputs, 4·hidden]: gates i, f, g, o
                           (Tensor, recurrent),    // f32[hidden, 4·hidden]
                           (Tensor, bias));        // f32[4·hidden]
};

struct Norm {
  BOOST_HANA_DEFINE_STRUCT(Norm, (Tensor, scale), (Tensor, shift));
};

struct Block {
  BOOST_HANA_DEFINE_STRUCT(Block, (Norm, before_attention), (Tensor, qkv), (Tensor, output),
                           (Norm, before_layers), (Tensor, up), (Tensor, up_bias), (Tensor, down),
                           (Tensor, down_bias));
};

const auto norm = [](const Norm& p, Tensor x) { return layer_norm(x) * p.scale + p.shift; };

}  // namespace

/// The last state of x [length, batch, hidden], by mean square.
Row lstm_row(const Specification& spec) {
  const std::int64_t length = spec.integer("length");
  const std::int64_t batch = spec.integer("batch");
  const std::int64_t hidden = spec.integer("hidden");
  const std::string activation = spec.text("activation");
  auto forward = [=](const Lstm& p, Tensor xs) {
    auto cell = [&](const std::pair<Tensor, Tensor>& state, Tensor x) {
      const auto& [h, c] = state;
      const std::vector<Tensor> gates = split(x + matmul(h, p.recurrent), 4, 1);
      const Tensor next =
          sigmoid(gates[1]) * c + sigmoid(gates[0]) * activate(activation, gates[2]);
      const Tensor output = sigmoid(gates[3]) * activate(activation, next);
      return std::pair{std::pair{output, next}, std::tuple<>{}};
    };
    const Tensor zero = zeros({batch, hidden}, f32);
    return scan(cell, std::pair{zero, zero}, matmul(xs, p.input) + p.bias).first.first;
  };
  auto loss = [=](const Lstm& p, Tensor xs, Tensor y) {
    return mean_squared_error(forward(p, xs), y);
  };
  const Lstm lstm{weight_input(3, {hidden, 4 * hidden}, hidden),
                  weight_input(4, {hidden, 4 * hidden}, hidden), zeros({4 * hidden}, f32)};
  return model_row(spec, lstm, forward, loss, uniform_input(1, {length, batch, hidden}),
                   uniform_input(2, {batch, hidden}));
}

/// Causal attention of heads of 64 and a perceptron of 4·width, each after a layer norm and beside
/// an identity, on x [batch, length, width].
Row gpt_row(const Specification& spec) {
  const std::int64_t batch = spec.integer("batch");
  const std::int64_t length = spec.integer("length");
  const std::int64_t width = spec.integer("width");
  const std::int64_t heads = spec.integer("heads");
  const std::string activation = spec.text("activation");
  auto attend = [=](const Block& p, Tensor x) {
    // [batch, length, 3·width] → thrice [batch, heads, length, width of a head]
    const auto part = [&](const Tensor& all) {
      return transpose(reshape(all, {batch, length, heads, width / heads}), {0, 2, 1, 3});
    };
    const std::vector<Tensor> qkv = split(matmul(x, p.qkv), 3, 2);
    const Tensor causal = expand_dims(arange(length), 1) >= arange(length);
    const Tensor y = attention(part(qkv[0]), part(qkv[1]), part(qkv[2]), causal);
    return matmul(reshape(transpose(y, {0, 2, 1, 3}), {batch, length, width}), p.output);
  };
  auto forward = [=](const Block& p, Tensor x) {
    x = x + attend(p, norm(p.before_attention, x));
    const Tensor up = matmul(norm(p.before_layers, x), p.up) + p.up_bias;
    return x + matmul(activate(activation, up), p.down) + p.down_bias;
  };
  auto loss = [=](const Block& p, Tensor x, Tensor y) {
    return mean_squared_error(forward(p, x), y);
  };
  const Norm one{ones({width}, f32), zeros({width}, f32)};
  const Block block{one,
                    weight_input(3, {width, 3 * width}, width),
                    weight_input(4, {width, width}, width),
                    one,
                    weight_input(5, {width, 4 * width}, width),
                    zeros({4 * width}, f32),
                    weight_input(6, {4 * width, width}, 4 * width),
                    zeros({width}, f32)};
  return model_row(spec, block, forward, loss, uniform_input(1, {batch, length, width}),
                   uniform_input(2, {batch, length, width}));
}

}  // namespace hom::peers
