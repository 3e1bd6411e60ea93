// tests/cases/support.h -- tensors against numbers, forward mode against reverse mode, counted work
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <hom/core/executor.h>
#include <hom/core/text.h>
#include <hom/hom.h>

namespace hom::cases {

/// What a few rounded operations in `dtype` may be off by, relative to max(1, |value|).
inline double tolerance_of(Dtype dtype) {
  if (dtype == f16) return 4e-3;
  if (dtype == bf16) return 3e-2;
  return dtype == f32 ? 2e-6 : 1e-12;
}

/// Whether `got` has these elements, in row-major order. NaN wants NaN, and an infinity that
/// infinity.
inline ::testing::AssertionResult near(const Tensor& got, const std::vector<double>& want,
                                       double tolerance = 0) {
  if (tolerance == 0) tolerance = tolerance_of(got.dtype());
  const std::vector<double> values = got.to_vector();
  bool equal = values.size() == want.size();
  for (std::size_t i = 0; equal && i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      equal = std::isnan(values[i]);
    } else if (std::isinf(want[i])) {
      equal = values[i] == want[i];
    } else {
      equal = std::abs(values[i] - want[i]) <= tolerance * std::max(1.0, std::abs(want[i]));
    }
  }
  if (equal) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure();
  failure << got << " is not";
  for (double value : want) failure << ' ' << ::testing::PrintToString(value);
  return failure;
}

inline ::testing::AssertionResult near(const Tensor& got, double want) {
  return near(got, std::vector<double>{want});
}

/// Whether both have the same type and, within `tolerance`, the same elements.
inline ::testing::AssertionResult agree(const Tensor& a, const Tensor& b, double tolerance = 0) {
  if (!(a.type() == b.type())) {
    return ::testing::AssertionFailure() << to_string(a.type()) << " and " << to_string(b.type());
  }
  return near(a, b.to_vector(), tolerance);
}

/// A rank-1 tensor of the given dtype.
inline Tensor vector_of(const std::vector<double>& values, Dtype dtype = f64) {
  return tensor(values).astype(dtype);
}

/// A direction without zeros: 1, −1.5, 2, −2.5, …
inline Tensor direction_like(const Tensor& x) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    values.push_back((i % 2 ? -1 : 1) * (1 + 0.5 * static_cast<double>(i)));
  }
  return tensor(values, x.shape()).astype(x.dtype());
}

/// Σ aᵢbᵢ, outside Hom.
inline double inner_product(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector();
  const std::vector<double> y = b.to_vector();
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// The gradient of a scalar function in one argument, by reverse mode, compared with forward mode
/// along every axis and along a direction without zeros.
template <std::size_t I, class F, class... Xs>
Tensor gradient_in(const F& f, const Xs&... xs) {
  const Tensor reverse = grad(f, wrt<I>)(xs...);
  EXPECT_TRUE(agree(jacobian(f, wrt<I>, Mode::forward)(xs...), reverse))
      << "forward is not reverse";
  const Tensor direction = direction_like(reverse);
  const Tensor along = jvp(f, wrt<I>)(xs..., direction).second;
  const double expected = inner_product(reverse, direction);
  if (std::isfinite(expected)) {
    EXPECT_TRUE(near(along, {expected}, 16 * tolerance_of(along.dtype()))) << "jvp is not ⟨∇f, v⟩";
  }
  return reverse;
}

/// The gradient in the only argument.
template <class F>
Tensor gradient(const F& f, const Tensor& x) {
  return gradient_in<0>(f, x);
}

/// The gradients in all (two or more) arguments.
template <class F, class... Xs>
std::array<Tensor, sizeof...(Xs)> gradients(const F& f, const Xs&... xs) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto joint = grad(f, wrt<I...>)(xs...);
    std::array<Tensor, sizeof...(Xs)> each{gradient_in<I>(f, xs...)...};
    const auto same = [](const Tensor& a, const Tensor& b) { EXPECT_TRUE(agree(a, b)); };
    (same(std::get<I>(joint), each[I]), ...);
    return each;
  }(std::index_sequence_for<Xs...>());
}

/// The Jacobian by rows, compared with the one by columns.
template <class F>
Tensor jacobian_in_both_modes(const F& f, const Tensor& x) {
  const Tensor reverse = jacobian(f, Mode::reverse)(x);
  EXPECT_TRUE(agree(jacobian(f, Mode::forward)(x), reverse)) << "forward is not reverse";
  return reverse;
}

/// The second derivatives by forward over reverse, compared with the other three orders.
template <class F>
Tensor second_derivative(const F& f, const Tensor& x) {
  const Tensor result = hessian(f)(x);
  EXPECT_TRUE(agree(jacobian(grad(f), Mode::reverse)(x), result)) << "reverse over reverse";
  const auto forward = jacobian(f, Mode::forward);
  EXPECT_TRUE(agree(jacobian(forward, Mode::forward)(x), result)) << "forward over forward";
  EXPECT_TRUE(agree(jacobian(forward, Mode::reverse)(x), result)) << "reverse over forward";
  return result;
}

/// (f(x + hv) − f(x − hv))/2h for a function of one tensor, element by element.
template <class F>
std::vector<double> finite_difference(const F& f, const Tensor& x, const Tensor& v,
                                      double h = 1e-5) {
  const std::vector<double> after = Tensor(f(x + h * v)).to_vector();
  std::vector<double> slope = Tensor(f(x - h * v)).to_vector();
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = (after[i] - slope[i]) / (2 * h);
  return slope;
}

/// The operations of a program: its steps but for constants and what the closure held.
struct Operations {
  std::map<std::string, int> count;
  int total = 0;
  /// Operations on the longest path from an input to an output.
  int depth = 0;
};

inline bool is_leaf(const Primitive& primitive) { return primitive.max_operands == 0; }

inline Operations operations_of(const Program& program) {
  Operations result;
  std::vector<int> depth(program.slot_count());
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    if (is_leaf(step.primitive)) continue;
    ++result.count[step.primitive.name];
    ++result.total;
    int deepest = 0;
    for (Slot slot : step.operands) deepest = std::max(deepest, depth[slot]);
    for (Slot r = 0; r < step.result_count; ++r) depth[step.first_result + r] = deepest + 1;
    result.depth = std::max(result.depth, deepest + 1);
  }
  return result;
}

/// Computes as the default executor, counts steps other than leaves, and notes NaN in any result.
class WatchingExecutor : public Executor {
 public:
  TensorList execute(const Invocation& step, TensorList operands) override {
    TensorList results = default_executor().execute(step, std::move(operands));
    if (!is_leaf(step.primitive)) ++steps;
    for (const Tensor& result : results) {
      if (!result.dtype().is_float()) continue;
      for (double value : result.to_vector()) saw_nan = saw_nan || std::isnan(value);
    }
    return results;
  }

  int steps = 0;
  bool saw_nan = false;
};

/// The message of the error that `f` throws, or "(no error)".
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace hom::cases
