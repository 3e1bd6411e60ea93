// tests/benchmarks/peers/row.h -- what a row of the peers' benchmark is to Hom's worker: a
// specification, the numbers that go in, and something that can be called again and again
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hom/hom.h>

namespace hom::peers {

/// Names and values, as rows.py has them: `kind=mlp batch=32 width=256 activation=relu`.
class Specification {
 public:
  explicit Specification(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  /// Throws `Error` where the name is missing.
  const std::string& text(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  bool is(const std::string& name, const std::string& value) const { return text(name) == value; }

 private:
  std::map<std::string, std::string> values_;
};

/// A row that is ready to be called.
struct Row {
  /// Calls it n times, each call done before it returns. The first call compiles.
  std::function<void(std::int64_t n)> run;
  /// Numbers that say what the row computes, from a fresh start: losses of training steps, or
  /// `summary` of results. inputs.py has the same.
  std::function<std::vector<double>()> check;
  /// Its kernels, and where the time goes.
  std::function<std::string()> describe;
};

/// f32 in ±scale, element i of a stream: the same in inputs.py.
Tensor uniform_input(std::uint64_t stream, const Shape& shape, double scale = 1);
/// i32 in 0 … below − 1.
Tensor integer_input(std::uint64_t stream, const Shape& shape, std::int64_t below);
/// A weight for that many inputs of each unit: ±1/√fan_in.
Tensor weight_input(std::uint64_t stream, const Shape& shape, std::int64_t fan_in);

/// Weighted mean, mean of absolute values, second and last element of each result.
std::vector<double> summary(const std::vector<Tensor>& results);

/// relu, tanh, sigmoid, gelu, silu or softsign.
Tensor activate(const std::string& name, const Tensor& x);

/// A function of these arguments.
template <class F, class... Args>
Row function_row(F f, Args... args) {
  auto compiled = compile(std::move(f));
  auto call = [compiled, args...] { return compiled(args...); };
  return {[call](std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) call();
          },
          [call] { return summary(leaves(call())); },
          [compiled, args...] {
            return to_string(explain(compiled, args...)) + to_string(profile(compiled, args...));
          }};
}

/// Steps of gradient descent on `loss(parameters, x, y)`, one compiled function each: the loss and
/// the next parameters, which take the place of the old.
template <class Parameters, class Loss>
Row training_row(const Parameters& initial, Loss loss, Tensor x, Tensor y) {
  auto step = compile([loss](const Parameters& p, Tensor rate, Tensor x, Tensor y) {
    const auto [value, slope] = value_and_grad(loss)(p, x, y);
    return std::pair{value, tree_map([&](Tensor w, Tensor dw) { return w - rate * dw; }, p, slope)};
  });
  auto take_step = [step, x, y](Parameters& p, const Tensor& rate) {
    auto [value, next] = step(std::move(p), rate, x, y);
    p = std::move(next);
    return value;
  };
  auto parameters = std::make_shared<Parameters>(initial);
  return {[=](std::int64_t n) {
            const Tensor rate = tensor(0x1p-10, f32);
            for (std::int64_t i = 0; i < n; ++i) take_step(*parameters, rate);
          },
          [=] {
            Parameters p = initial;
            const Tensor rate = tensor(0.125, f32);
            std::vector<double> losses;
            for (int i = 0; i < 5; ++i) losses.push_back(take_step(p, rate).item());
            return losses;
          },
          [=] {
            const Tensor rate = tensor(0.125, f32);
            return to_string(explain(step, initial, rate, x, y)) +
                   to_string(profile(step, initial, rate, x, y));
          }};
}

/// The function of a model alone, or steps of training it.
template <class Parameters, class Forward, class Loss>
Row model_row(const Specification& spec, const Parameters& parameters, Forward forward, Loss loss,
              Tensor x, Tensor y) {
  if (spec.is("mode", "forward")) return function_row(forward, parameters, x);
  return training_row(parameters, loss, x, y);
}

Row mlp_row(const Specification& spec);
Row convolutional_row(const Specification& spec);
Row lstm_row(const Specification& spec);
Row gpt_row(const Specification& spec);
Row array_row(const Specification& spec);
Row scalar_row(const Specification& spec);
Row curvature_row(const Specification& spec);
Row gaussian_process_row(const Specification& spec);

/// The row of `kind`. Throws `Error` where there is none.
Row make_row(const Specification& spec);

}  // namespace hom::peers
