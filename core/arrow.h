// core/arrow.h -- functions as arrows: composition, products, and operations as objects in
// hom::arrows
//
// `arrow(f)` lifts a lambda; `>>` composes where one side is an arrow. A returned tuple spreads
// over the next arrow's arguments. Combinators build ordinary C++ closures, which disappear when
// the composite is captured: `curry`, `uncurry` and `apply` leave no trace in a program.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/product.h>

namespace hom {

/// A function object that composes with `>>`.
template <class F>
class Arrow {
 public:
  explicit Arrow(F f) : f_(std::move(f)) {}

  template <class... Args>
  decltype(auto) operator()(Args&&... args) const {
    return f_(std::forward<Args>(args)...);
  }

 private:
  F f_;
};

/// `f` as an arrow; arrows stay as they are.
template <class F>
Arrow<F> arrow(F f) {
  return Arrow<F>(std::move(f));
}
template <class F>
Arrow<F> arrow(Arrow<F> f) {
  return f;
}

namespace detail {
template <class T>
inline constexpr bool is_arrow = is_instance<std::remove_cvref_t<T>, Arrow>;

/// f(value), with a tuple or pair spread over f's arguments.
template <class F, class T>
decltype(auto) spread(const F& f, T&& value) {
  if constexpr (is_instance<std::remove_cvref_t<T>, std::tuple> ||
                is_instance<std::remove_cvref_t<T>, std::pair>) {
    return std::apply(f, std::forward<T>(value));
  } else {
    return f(std::forward<T>(value));
  }
}
}  // namespace detail

/// f, then g: (f >> g)(x…) = g(f(x…)). One of them is an arrow.
template <class F, class G>
  requires(detail::is_arrow<F> || detail::is_arrow<G>)
auto operator>>(F f, G g) {
  return arrow([f = std::move(f), g = std::move(g)](const auto&... x) {
    return detail::spread(g, f(x...));
  });
}

/// g ∘ f, in the order of mathematics.
template <class G, class F>
auto compose(G g, F f) {
  return arrow(std::move(f)) >> std::move(g);
}

/// f △ g △ …: all of them on the same arguments, as a tuple.
template <class... Fs>
  requires(sizeof...(Fs) >= 2)
auto fork(Fs... fs) {
  return arrow([... fs = std::move(fs)](const auto&... x) { return std::tuple{fs(x...)...}; });
}

/// f × g: each on its own argument; a tuple argument spreads over its function's.
template <class F, class G>
auto cross(F f, G g) {
  return arrow([f = std::move(f), g = std::move(g)](const auto& x, const auto& y) {
    return std::tuple{detail::spread(f, x), detail::spread(g, y)};
  });
}

/// f ▽ g: the sum of f on the first argument and g on the second, the coproduct of linear maps.
template <class F, class G>
auto join(F f, G g) {
  return arrow([f = std::move(f), g = std::move(g)](const auto& x, const auto& y) {
    // One after the other: C++ leaves the order of operands of + open, and programs keep it.
    const auto left = detail::spread(f, x);
    const auto right = detail::spread(g, y);
    return left + right;
  });
}

/// curry(f)(x) is the arrow y ↦ f(x, y).
template <class F>
auto curry(F f) {
  return arrow([f = std::move(f)](const auto& x) {
    return arrow([f, x](const auto&... y) { return f(x, y...); });
  });
}

/// uncurry(f)(x, y…) = f(x)(y…).
template <class F>
auto uncurry(F f) {
  return arrow([f = std::move(f)](const auto& x, const auto&... y) { return f(x)(y...); });
}

/// Arrows as objects: `arrows::dup >> arrows::mul`. They live in a namespace of their own, because
/// the operations are functions of the same names.
namespace arrows {

inline constexpr auto make = [](auto f) { return Arrow(f); };

/// x ↦ x
inline const auto id = make([](const auto& x) { return x; });
/// (x, y) ↦ x
inline const auto exl = make([](const auto& x, const auto&) { return x; });
/// (x, y) ↦ y
inline const auto exr = make([](const auto&, const auto& y) { return y; });
/// x ↦ (x, x)
inline const auto dup = make([](const auto& x) { return std::tuple{x, x}; });
/// (x, y) ↦ (y, x)
inline const auto swap = make([](const auto& x, const auto& y) { return std::tuple{y, x}; });
/// (x, y) ↦ x + y
inline const auto jam = make([](const auto& x, const auto& y) { return x + y; });
/// (f, x…) ↦ f(x…)
inline const auto apply = make([](const auto& f, const auto&... x) { return f(x...); });

#define HOM_UNARY_ARROW(name) \
  inline const auto name = make([](const Tensor& x) { return hom::name(x); })
HOM_UNARY_ARROW(abs);
HOM_UNARY_ARROW(sign);
HOM_UNARY_ARROW(round);
HOM_UNARY_ARROW(floor);
HOM_UNARY_ARROW(ceil);
HOM_UNARY_ARROW(sqrt);
HOM_UNARY_ARROW(rsqrt);
HOM_UNARY_ARROW(exp);
HOM_UNARY_ARROW(expm1);
HOM_UNARY_ARROW(log);
HOM_UNARY_ARROW(log1p);
HOM_UNARY_ARROW(sin);
HOM_UNARY_ARROW(cos);
HOM_UNARY_ARROW(tan);
HOM_UNARY_ARROW(asin);
HOM_UNARY_ARROW(acos);
HOM_UNARY_ARROW(atan);
HOM_UNARY_ARROW(sinh);
HOM_UNARY_ARROW(cosh);
HOM_UNARY_ARROW(tanh);
HOM_UNARY_ARROW(asinh);
HOM_UNARY_ARROW(acosh);
HOM_UNARY_ARROW(atanh);
HOM_UNARY_ARROW(logistic);
HOM_UNARY_ARROW(erf);
HOM_UNARY_ARROW(is_finite);
HOM_UNARY_ARROW(stop_gradient);
#undef HOM_UNARY_ARROW

inline const auto neg = make([](const Tensor& x) { return -x; });
inline const auto sum = make([](const Tensor& x) { return hom::sum(x); });
inline const auto add = make([](const Tensor& x, const Tensor& y) { return x + y; });
inline const auto sub = make([](const Tensor& x, const Tensor& y) { return x - y; });
inline const auto mul = make([](const Tensor& x, const Tensor& y) { return x * y; });
inline const auto div = make([](const Tensor& x, const Tensor& y) { return x / y; });
inline const auto rem = make([](const Tensor& x, const Tensor& y) { return x % y; });
inline const auto pow = make([](const Tensor& x, const Tensor& y) { return hom::pow(x, y); });
inline const auto maximum =
    make([](const Tensor& x, const Tensor& y) { return hom::maximum(x, y); });
inline const auto minimum =
    make([](const Tensor& x, const Tensor& y) { return hom::minimum(x, y); });
inline const auto atan2 = make([](const Tensor& y, const Tensor& x) { return hom::atan2(y, x); });
inline const auto matmul = make([](const Tensor& x, const Tensor& y) { return hom::matmul(x, y); });
inline const auto where =
    make([](const Tensor& c, const Tensor& x, const Tensor& y) { return hom::where(c, x, y); });

}  // namespace arrows
}  // namespace hom
