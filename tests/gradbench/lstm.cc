// tests/gradbench/lstm.cc -- a scan over characters, whose body is all layers
#include <hom/tests/gradbench/lstm.h>

#include <cmath>

namespace hom::gradbench {
namespace {

/// What each layer remembers, each [b]: (hidden, cell).
using State = std::vector<std::pair<Tensor, Tensor>>;

/// Weights [b] of a layer, and its biases, for one gate.
struct Gate {
  Tensor weight;
  Tensor bias;
  Tensor operator()(const Tensor& x) const { return x * weight + bias; }
};

/// main [2l, 4b], extra [3, b], state [2l, b], sequence [c, b]
Tensor loss(const Tensor& main, const Tensor& extra, const Tensor& state, const Tensor& sequence) {
  const std::int64_t layers = main.extent(0) / 2;
  const std::int64_t b = extra.extent(1);
  const std::int64_t characters = sequence.extent(0);
  std::vector<std::array<Gate, 4>> gates;
  State start;
  for (std::int64_t a = 0; a < layers; ++a) {
    std::array<Gate, 4> of_layer;
    for (std::int64_t g = 0; g < 4; ++g) {
      const Range columns{g * b, (g + 1) * b};
      of_layer[static_cast<std::size_t>(g)] = {main(2 * a, columns), main(2 * a + 1, columns)};
    }
    gates.push_back(of_layer);
    start.emplace_back(state(2 * a), state(2 * a + 1));
  }
  const Tensor in_weight = extra(0);
  const Tensor out_weight = extra(1);
  const Tensor out_bias = extra(2);

  const auto step = [&](const State& before, const std::pair<Tensor, Tensor>& characters_here) {
    const auto& [now, next] = characters_here;
    State after;
    Tensor z = now * in_weight;
    for (std::size_t a = 0; a < gates.size(); ++a) {
      const auto& [hidden, cell] = before[a];
      const auto& [forget_gate, in_gate, out_gate, change_gate] = gates[a];
      const Tensor forget = sigmoid(forget_gate(z));
      const Tensor in = sigmoid(in_gate(hidden));
      const Tensor out = sigmoid(out_gate(z));
      const Tensor change = tanh(change_gate(hidden));
      const Tensor new_cell = cell * forget + in * change;
      z = out * tanh(new_cell);
      after.emplace_back(z, new_cell);
    }
    const Tensor y = z * out_weight + out_bias;
    return std::pair{after, sum(next * (y - log(2.0 + sum(exp(y)))))};
  };
  const Tensor now = sequence(Range{0, -1});
  const Tensor next = sequence(Range{1});
  const Tensor terms = scan(step, start, std::pair{now, next}).second;
  return -sum(terms) / static_cast<double>(b * (characters - 1));
}

double logistic_of(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

Workload lstm(const Records& in) {
  const Tensor main = in["main_params"];
  const Tensor extra = in["extra_params"];
  const Tensor state = in["state"];
  const Tensor sequence = in["sequence"];
  const auto gradient = [](const Tensor& m, const Tensor& e, const Tensor& s, const Tensor& text) {
    const auto [dm, de] = grad(loss, wrt<0, 1>)(m, e, s, text);
    return concat({ravel(dm), ravel(de)});
  };

  const auto by_hand = [b = static_cast<std::size_t>(extra.extent(1)),
                        layers = static_cast<std::size_t>(main.extent(0) / 2),
                        characters = static_cast<std::size_t>(sequence.extent(0)),
                        p = main.to_vector(), e = extra.to_vector(), start = state.to_vector(),
                        text = sequence.to_vector()] {
    std::vector<double> s = start;
    std::vector<double> z(b);
    double total = 0;
    for (std::size_t t = 0; t + 1 < characters; ++t) {
      for (std::size_t i = 0; i < b; ++i) z[i] = text[t * b + i] * e[i];
      for (std::size_t a = 0; a < layers; ++a) {
        const double* w = p.data() + a * 8 * b;
        const double* bias = w + 4 * b;
        double* hidden = s.data() + 2 * a * b;
        double* cell = hidden + b;
        for (std::size_t i = 0; i < b; ++i) {
          const double forget = logistic_of(z[i] * w[i] + bias[i]);
          const double ingate = logistic_of(hidden[i] * w[b + i] + bias[b + i]);
          const double out = logistic_of(z[i] * w[2 * b + i] + bias[2 * b + i]);
          const double change = std::tanh(hidden[i] * w[3 * b + i] + bias[3 * b + i]);
          cell[i] = cell[i] * forget + ingate * change;
          hidden[i] = out * std::tanh(cell[i]);
          z[i] = hidden[i];
        }
      }
      double exponentials = 2;
      for (std::size_t i = 0; i < b; ++i) {
        z[i] = z[i] * e[b + i] + e[2 * b + i];
        exponentials += std::exp(z[i]);
      }
      const double log_sum = std::log(exponentials);
      for (std::size_t i = 0; i < b; ++i) total += text[(t + 1) * b + i] * (z[i] - log_sum);
    }
    return std::vector{-total / static_cast<double>(b * (characters - 1))};
  };

  return {.primal = prepared(loss, main, extra, state, sequence),
          .gradient = prepared(gradient, main, extra, state, sequence),
          .by_hand = by_hand,
          .named = [](const Results& primal, const Results& slopes) {
            return joined(name_in_order({"objective"}, primal),
                          name_in_order({"gradient"}, slopes));
          }};
}

}  // namespace hom::gradbench
