// tests/benchmarks/peers/row.cc -- inputs, checks and the table of kinds
#include <hom/tests/benchmarks/peers/row.h>

#include <cmath>

namespace hom::peers {

const std::string& Specification::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw Error("the row has no " + name);
  return found->second;
}

std::int64_t Specification::integer(const std::string& name) const {
  return std::stoll(text(name));
}

namespace {

/// 24 random bits: the finaliser of SplitMix64 (G. Steele, D. Lea and C. Flood, 2014) over
/// counters.
std::uint32_t bits(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t z = ((stream << 32) + i) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 40);
}

std::size_t count(const Shape& shape) { return static_cast<std::size_t>(element_count(shape)); }

}  // namespace

Tensor uniform_input(std::uint64_t stream, const Shape& shape, double scale) {
  std::vector<float> values(count(shape));
  const auto by = static_cast<float>(scale);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<float>(bits(stream, i)) * 0x1p-23f - 1.0f) * by;
  return tensor(values, shape);
}

Tensor integer_input(std::uint64_t stream, const Shape& shape, std::int64_t below) {
  std::vector<std::int32_t> values(count(shape));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int32_t>(bits(stream, i) % below);
  return tensor(values, shape);
}

Tensor weight_input(std::uint64_t stream, const Shape& shape, std::int64_t fan_in) {
  return uniform_input(stream, shape, 1 / std::sqrt(static_cast<double>(fan_in)));
}

std::vector<double> summary(const std::vector<Tensor>& results) {
  std::vector<double> values;
  for (const Tensor& result : results) {
    const std::vector<float> x = result.to_vector<float>();
    double weighted = 0;
    double absolute = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      weighted += x[i] * static_cast<double>(i % 7 + 1);
      absolute += std::abs(static_cast<double>(x[i]));
    }
    const auto n = static_cast<double>(x.size());
    values.insert(values.end(), {weighted / n, absolute / n, x[1 % x.size()], x.back()});
  }
  return values;
}

Tensor activate(const std::string& name, const Tensor& x) {
  if (name == "relu") return relu(x);
  if (name == "tanh") return tanh(x);
  if (name == "sigmoid") return sigmoid(x);
  if (name == "gelu") return gelu(x);
  if (name == "silu") return silu(x);
  if (name == "softsign") return x / (1 + abs(x));
  throw Error("there is no activation " + name);
}

Row make_row(const Specification& spec) {
  static const std::map<std::string, Row (*)(const Specification&)> kinds{
      {"mlp", mlp_row},       {"cnn", convolutional_row},   {"lstm", lstm_row},
      {"gpt", gpt_row},       {"array", array_row},         {"scalar", scalar_row},
      {"hvp", curvature_row}, {"gp", gaussian_process_row},
  };
  const auto found = kinds.find(spec.text("kind"));
  if (found == kinds.end()) throw Error("there is no kind of rows " + spec.text("kind"));
  return found->second(spec);
}

}  // namespace hom::peers
