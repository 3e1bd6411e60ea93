// categories/gad.h -- generalised automatic differentiation: functions with derivatives in any
// category of linear arrows
//
// An arrow a → b of GAD k is a function a → b × (a `k` b): at each point the value, and the
// derivative there as an arrow of k. The chain rule is composition, and nothing else is needed:
//
//     linear f    = \a -> (f a, f)                                    exl, exr, dup, neg, add, …
//     g ∘ f       = \a -> let (b, f′) = f a; (c, g′) = g b in (c, g′ ∘ f′)
//     f △ g       = \a -> let (b, f′) = f a; (c, g′) = g a in ((b, c), f′ △ g′)
//     mul         = \(a, b) -> (a·b, scale b ▽ scale a)
//     sin         = \a -> (sin a, scale (cos a))
//
// The choice of k is that of a mode: additive functions and Begin differentiate forwards, matrices
// give Jacobians, Dual and Cont differentiate backwards. `linearize` and `transpose` are the
// production versions of it, tested equal.
//
// Tangents of integers and bools are the unit, so that derivatives are arrows between the float
// factors (`tangent`). The rules of the paper are written out in gad.cc; a primitive that it does
// not know takes the derivative rule of the table, read in k.
//
// C. Elliott, "The Simple Essence of Automatic Differentiation" (2018), sections 2–4 and
// "Generalizing automatic differentiation".
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include <hom/categories/linear.h>
#include <hom/core/linearization.h>
#include <hom/core/operations/elementwise.h>

namespace hom::categories {

/// The factors of an object that vary: floats.
Environment tangent(const Environment& a);
/// Their positions among the factors, and those that `positions` selects among the floats of `a`.
Positions tangent_positions(const Environment& a);
Positions tangent_positions(const Environment& a, const Positions& positions);

/// The derivative of a function of one element, f′(x), for those that the paper names and their
/// like: sin, cos, exp, log, tanh, sqrt.
std::optional<Tensor> slope(const Operation& operation, const Tensor& x);
/// Whether an operation is linear in its float operands jointly: its derivative is itself.
bool is_own_derivative(const Operation& operation);
/// The operation with the operands known that `keep` does not name: the section at a point.
Operation section(const Operation& operation, const Tensors& x, const Positions& keep);
/// The derivative of any operation at x by the rule of the table: residuals…, dx… ↦ dy….
std::pair<Linearization, Tensors> derivative_by_table(const Operation& operation, const Tensors& x);

template <LinearCategory K>
struct GAD {
  K k = {};

  struct Arrow {
    Environment domain;
    Environment codomain;
    /// The value, and the derivative: tangent(domain) → tangent(codomain).
    std::function<std::pair<Tensors, typename K::Arrow>(const Tensors&)> function;

    std::pair<Tensors, typename K::Arrow> operator()(const Tensors& x) const { return function(x); }
  };

  std::string name() const { return "differentiable functions over " + k.name(); }
  std::string lacks(const Primitive&) const { return ""; }
  const Environment& domain(const Arrow& f) const { return f.domain; }
  const Environment& codomain(const Arrow& f) const { return f.codomain; }

  Arrow id(const Environment& a) const { return project(a, range(0, a.size())); }
  Arrow compose(const Arrow& g, const Arrow& f) const {
    ensure(f.codomain == g.domain, "compose: the codomain of f is the domain of g");
    return {f.domain, g.codomain, [k = k, f = f.function, g = g.function](const Tensors& a) {
              auto [b, df] = f(a);
              auto [c, dg] = g(b);
              return std::pair{std::move(c), k.compose(dg, df)};
            }};
  }
  Arrow fork(const Arrow& f, const Arrow& g) const {
    ensure(f.domain == g.domain, "fork: f and g have one domain");
    return {f.domain, product(f.codomain, g.codomain),
            [k = k, f = f.function, g = g.function](const Tensors& a) {
              auto [b, df] = f(a);
              auto [c, dg] = g(a);
              b.insert(b.end(), c.begin(), c.end());
              return std::pair{std::move(b), k.fork(df, dg)};
            }};
  }
  Arrow project(const Environment& a, const Positions& positions) const {
    return {a, factors(a, positions), [k = k, a, positions](const Tensors& x) {
              Tensors y;
              for (std::size_t position : positions) y.push_back(x[position]);
              return std::pair{std::move(y),
                               k.project(tangent(a), tangent_positions(a, positions))};
            }};
  }
  /// Functions with derivatives of their own, which their decomposition would not have.
  bool reads_whole(const Operation& operation) const {
    return operation.is("custom_jvp") || operation.is("custom_vjp") ||
           operation.is("custom_linear");
  }
  Arrow primitive(const Operation& operation) const {
    const Primitive& p = *operation.primitive;
    const bool varies = !tangent(operation.types).empty() && !tangent(operation.results).empty();
    if (varies && !p.derivative && !p.call_derivative)
      fail_operation(name(), operation, p.no_derivative);
    return {operation.domain(), operation.codomain(), [self = *this, operation](const Tensors& x) {
              Tensors y = operation(x);
              typename K::Arrow derivative = self.derivative(operation, x);
              return std::pair{std::move(y), std::move(derivative)};
            }};
  }
  /// At each point the branch that is taken there.
  Arrow cond(const Arrow& then, const Arrow& otherwise) const {
    return {product({bool_[{}]}, then.domain), then.codomain,
            [then = then.function, otherwise = otherwise.function](const Tensors& x) {
              const Tensors arguments(x.begin() + 1, x.end());
              return x[0].item<bool>() ? then(arguments) : otherwise(arguments);
            }};
  }

  /// The derivative of one operation at x.
  typename K::Arrow derivative(const Operation& operation, const Tensors& x) const {
    const Positions floats = tangent_positions(operation.types);
    const Environment from = tangent(operation.types);
    const Environment to = tangent(operation.results);
    if (from.empty() || to.empty()) return zero(k, from, to);
    if (is_own_derivative(operation)) return k.primitive(section(operation, x, floats));
    if (operation.is("mul")) {
      const typename K::Arrow right = k.scale(x[0]);
      return k.join(k.scale(x[1]), right);
    }
    if (operation.is("div")) return k.join(k.scale(1 / x[1]), k.scale(-(x[0] / (x[1] * x[1]))));
    if (operation.is("dot_general")) {
      return k.join(k.primitive(section(operation, x, {0})),
                    k.primitive(section(operation, x, {1})));
    }
    if (const std::optional<Tensor> factor = slope(operation, x[0])) return k.scale(*factor);
    return by_table(operation, x);
  }

 private:
  typename K::Arrow by_table(const Operation& operation, const Tensors& x) const {
    const auto [lin, residuals] = derivative_by_table(operation, x);
    Positions varying;
    std::size_t next = 0;
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
      if (!operation.results[i].dtype.is_float()) continue;
      if (lin.output_varies[i]) varying.push_back(next);
      ++next;
    }
    return k.compose(k.inject(tangent(operation.results), varying),
                     read_linear(k, lin.linear, residuals));
  }
};

}  // namespace hom::categories
