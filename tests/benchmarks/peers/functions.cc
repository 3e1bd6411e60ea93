// tests/benchmarks/peers/functions.cc -- rows over arrays, gradients of numbers, curvature, and
// the likelihood of a Gaussian process
#include <array>
#include <cmath>
#include <numbers>

#include <hom/tests/benchmarks/peers/row.h>

namespace hom::peers {
namespace {

/// Twelve operations, two of them functions.
Row chain_row(bool perturbed, const Tensor& x, const Tensor& y) {
  if (perturbed) {
    return function_row(
        [](Tensor x, Tensor y) {
          const Tensor b = sin(x * y + 0.5);
          const Tensor c = log1p(x * x);
          const Tensor d = minimum(b * c - y, 0.2 * x);
          return d / (c + 2.0) + c;
        },
        x, y);
  }
  return function_row(
      [](Tensor x, Tensor y) {
        const Tensor b = tanh(x * y + 0.5);
        const Tensor c = exp(-(x * x));
        const Tensor d = maximum(b * c - y, 0.1 * x);
        return d * d + c;
      },
      x, y);
}

/// Hyperparameters as logarithms.
struct Kernel {
  BOOST_HANA_DEFINE_STRUCT(Kernel, (Tensor, length), (Tensor, noise));
};

}  // namespace

/// One operation over x f32[rows, columns].
Row array_row(const Specification& spec) {
  const std::int64_t rows = spec.integer("rows");
  const std::int64_t columns = spec.integer("columns");
  const std::string& f = spec.text("operation");
  const Tensor x = uniform_input(1, {rows, columns});
  if (f == "chain" || f == "chain2")
    return chain_row(f == "chain2", x, uniform_input(2, {rows, columns}));
  if (f == "softmax") return function_row([](Tensor x) { return softmax(x); }, x);
  if (f == "log_softmax") return function_row([](Tensor x) { return log_softmax(x); }, x);
  if (f == "layer_norm") return function_row([](Tensor x) { return layer_norm(x); }, x);
  if (f == "rms_norm") {
    return function_row([](Tensor x) { return x * rsqrt(mean(x * x, {-1}, Keep::yes) + 1e-5); }, x);
  }
  if (f == "sum") return function_row([](Tensor x) { return sum(x); }, x);
  if (f == "sum_of_squares") return function_row([](Tensor x) { return sum(x * x); }, x);
  if (f == "row_sum") return function_row([](Tensor x) { return sum(x, {1}); }, x);
  if (f == "row_max") return function_row([](Tensor x) { return max(x, {1}); }, x);
  if (f == "column_sum") return function_row([](Tensor x) { return sum(x, {0}); }, x);
  if (f == "column_mean_square") return function_row([](Tensor x) { return mean(x * x, {0}); }, x);
  if (f == "transpose") return function_row([](Tensor x) { return transpose(x); }, x);
  if (f == "transpose3") {
    const std::int64_t depth = spec.integer("depth");
    return function_row([](Tensor x) { return transpose(x, {2, 0, 1}); },
                        uniform_input(1, {rows, columns / depth, depth}));
  }
  if (f == "gather") {
    return function_row([](Tensor x, Tensor i) { return take(x, i); },
                        uniform_input(1, {rows * columns}),
                        integer_input(2, {rows * columns}, rows * columns));
  }
  if (f == "gather_rows") {
    return function_row([](Tensor x, Tensor i) { return take(x, i); }, x,
                        integer_input(2, {rows}, rows));
  }
  throw Error("there is no operation " + f);
}

/// Gradients of a function of three numbers, of 64 triples in turn.
Row scalar_row(const Specification& spec) {
  using Slopes = std::array<float, 3>;
  const bool perturbed = spec.is("activation", "tanh");
  auto f = [perturbed](Tensor a, Tensor b, Tensor c) {
    if (perturbed) return tanh(a * b) * cos(c) + sqrt(1 + a * a) / (1 + b * b);
    return sin(a * b) + a * exp(-(c * c)) + log1p(b * b) / (1 + c * c);
  };
  const std::vector<float> points = uniform_input(1, {64, 3}).to_vector<float>();
  struct State {
    std::optional<Native<Slopes(float, float, float)>> slope;
    Slopes last{};
    std::size_t next = 0;
  };
  auto state = std::make_shared<State>();
  auto call = [f, points, state] {
    if (!state->slope) state->slope = native<Slopes(float, float, float)>(grad(f, wrt<0, 1, 2>));
    const float* const p = points.data() + 3 * (state->next++ % 64);
    return state->last = (*state->slope)(p[0], p[1], p[2]);
  };
  return {[call](std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) call();
          },
          [call, state] {
            state->next = 0;
            std::vector<double> values;
            for (int i = 0; i < 64; ++i) {
              for (const float slope : call()) values.push_back(slope);
            }
            return values;
          },
          [call, state] {
            call();
            return to_string(explain(state->slope->program()));
          }};
}

/// H·v, of Rosenbrock's valley in many dimensions or of a perceptron's loss.
Row curvature_row(const Specification& spec) {
  const std::int64_t n = spec.integer("size");
  const std::string activation = spec.text("activation");
  if (spec.is("function", "rosenbrock")) {
    const bool perturbed = activation != "none";
    auto valley = [=](Tensor x) {
      const Tensor head = x(Range{0, n - 1});
      const Tensor a = 1.0 - (perturbed ? activate(activation, head) : head);
      const Tensor b = x(Range{1, n}) - head * head;
      return sum(a * a + 100.0 * b * b);
    };
    return function_row(hvp(valley), uniform_input(1, {n}), uniform_input(2, {n}));
  }
  const Tensor x = uniform_input(3, {32, n});
  const Tensor y = uniform_input(4, {32, n});
  auto loss = [=](const std::vector<Tensor>& w, Tensor x, Tensor y) {
    return mean_squared_error(matmul(activate(activation, matmul(x, w[0])), w[1]), y);
  };
  auto product = [=](const std::vector<Tensor>& w, const std::vector<Tensor>& v, Tensor x,
                     Tensor y) {
    return hvp([=](const std::vector<Tensor>& w) { return loss(w, x, y); })(w, v);
  };
  const auto weights = [&](std::uint64_t stream) {
    return std::vector<Tensor>{weight_input(stream, {n, n}, n),
                               weight_input(stream + 1, {n, n}, n)};
  };
  return function_row(product, weights(5), weights(7), x, y);
}

/// −log p(y) of n points and its gradient in the kernel's length and noise.
Row gaussian_process_row(const Specification& spec) {
  const std::int64_t n = spec.integer("size");
  const bool matern = spec.is("kernel", "matern");
  auto loss = [=](const Kernel& k, Tensor x, Tensor y) {
    const Tensor distance = (expand_dims(x, 1) - x) / exp(k.length);
    const Tensor far = std::sqrt(3.0) * abs(distance);
    const Tensor covariance = matern ? (1.0 + far) * exp(-far) : exp(-0.5 * distance * distance);
    const Tensor l = cholesky(covariance + exp(2.0 * k.noise) * eye(n, f32));
    const Tensor white = triangular_solve(l, y);
    return 0.5 * dot(white, white) + sum(log(diagonal(l))) +
           0.5 * static_cast<double>(n) * std::log(2.0 * std::numbers::pi);
  };
  return function_row(
      [loss](const Kernel& k, Tensor x, Tensor y) { return value_and_grad(loss)(k, x, y); },
      Kernel{tensor(-0.5, f32), tensor(-1.0, f32)}, uniform_input(1, {n}, 3),
      uniform_input(2, {n}));
}

}  // namespace hom::peers
