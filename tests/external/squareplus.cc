// squareplus.cc -- declaration, kernel, bounds
#include <cmath>
#include <limits>

#include "squareplus.h"

#include <hom/core/rules.h>

namespace extension {

using namespace hom;

void add_squareplus(PrimitiveTable& primitives) {
  primitives.add({.name = "squareplus",
                  .dtypes = {f32, f64},
                  .type = rules::same_type,
                  .derivative =
                      [](const Linearizing& at) {
                        // y′ = y / √(x² + 4), and the root is 2y − x.
                        const Tensor slope = at.y[0] / (2 * at.y[0] - at.x[0]);
                        return std::vector{scale(slope, at.dx[0])};
                      },
                  .batch = rules::batch_elementwise,
                  .shapes = "s → s",
                  .formula = "y/(2y − x) · dx"});
}

Tensor squareplus(const Operand& x) {
  return apply_one(standard_primitives().find("squareplus"), {}, {x.value()}, x.at());
}

namespace {

/// Without overflow, and without cancellation where x is negative.
template <class T>
T squareplus_of(T x) {
  const T root = std::hypot(x, T{2});
  return x < 0 ? 2 / (root - x) : (root + x) / 2;
}

template <class T>
Tensor computed(const Tensor& operand) {
  const Tensor x = row_major(operand);
  const auto y = Array::allocate(x.type());
  const T* from = x.array().data<T>();
  T* to = y->data<T>();
  for (std::int64_t i = 0; i < x.size(); ++i) to[i] = squareplus_of(from[i]);
  return Tensor(y);
}

TensorList squareplus_kernel(const Invocation&, TensorList x) {
  return {x[0].dtype() == f32 ? computed<float>(x[0]) : computed<double>(x[0])};
}

}  // namespace

void add_squareplus(KernelTable& kernels) { kernels.add("squareplus", squareplus_kernel); }

void add_squareplus(categories::IntervalRules& rules) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  rules.emplace(
      "squareplus", [](const categories::Operation& step, std::span<const IntervalTensor> x) {
        const categories::IntervalArithmetic arithmetic(step.results[0].dtype);
        std::vector<Interval> y;
        for (const Interval& element : x[0].elements())
          y.push_back(arithmetic.monotone(element, {squareplus_of<double>, -inf, inf, 0, inf}));
        return IntervalTensor(step.results[0], std::move(y));
      });
}

}  // namespace extension
