// core/arrow.h -- functions as arrows: composition, products, and operations as objects in
// hom::arrows
//
// `arrow(f)` lifts a lambda; `>>` composes where one side is an arrow. A returned tuple spreads
// over the next arrow's arguments. Combinators build ordinary C++ closures, which disappear when
// the composite is captured: `curry`, `uncurry` and `apply` leave no trace in a program. An arrow
// is called by other arrows, so its steps and errors carry the line on which its operand was made.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/functions.h>
#include <hom/core/operations/linear_algebra.h>
#include <hom/core/operations/matrix_functions.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/operations/sorting.h>
#include <hom/core/operations/special.h>
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

/// The line of what was made last: of y, or of x where y has no line (it came from a file).
inline const Location& line_of(const Tensor& x, const Tensor& y) {
  return y.location().line() != 0 ? y.location() : x.location();
}

/// x + y; of tensors, on their line.
template <class X, class Y>
auto sum_of(const X& x, const Y& y) {
  if constexpr (std::same_as<X, Tensor> && std::same_as<Y, Tensor>) {
    const Location at = line_of(x, y);
    return Operand(x, at) + Operand(y, at);
  } else if constexpr (std::same_as<X, Tensor> && Arithmetic<Y>) {
    return Operand(x, x.location()) + Operand(y, x.location());
  } else if constexpr (Arithmetic<X> && std::same_as<Y, Tensor>) {
    return Operand(x, y.location()) + Operand(y, y.location());
  } else {
    return x + y;
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
    return detail::sum_of(left, right);
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
inline const auto jam = make([](const auto& x, const auto& y) { return detail::sum_of(x, y); });
/// (f, x…) ↦ f(x…)
inline const auto apply = make([](const auto& f, const auto&... x) { return f(x...); });

#define HOM_UNARY_ARROW(name) \
  inline const auto name = make([](const Tensor& x) { return hom::name(Operand(x, x.location())); })
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
HOM_UNARY_ARROW(erfc);
HOM_UNARY_ARROW(erfcx);
HOM_UNARY_ARROW(erf_inv);
HOM_UNARY_ARROW(erfc_inv);
HOM_UNARY_ARROW(lgamma);
HOM_UNARY_ARROW(digamma);
HOM_UNARY_ARROW(is_finite);
HOM_UNARY_ARROW(is_nan);
HOM_UNARY_ARROW(stop_gradient);
// Functions with further arguments, at their defaults: reductions of every element, softmax and
// sort along the last axis, every axis reversed.
HOM_UNARY_ARROW(relu);
HOM_UNARY_ARROW(softmax);
HOM_UNARY_ARROW(sum);
HOM_UNARY_ARROW(prod);
HOM_UNARY_ARROW(max);
HOM_UNARY_ARROW(min);
HOM_UNARY_ARROW(mean);
HOM_UNARY_ARROW(transpose);
HOM_UNARY_ARROW(determinant);
HOM_UNARY_ARROW(inverse);
HOM_UNARY_ARROW(expm);
HOM_UNARY_ARROW(trace);
HOM_UNARY_ARROW(sort);
HOM_UNARY_ARROW(argsort);
#undef HOM_UNARY_ARROW
inline const auto neg = make([](const Tensor& x) { return -Operand(x, x.location()); });

#define HOM_BINARY_ARROW(name)                                         \
  inline const auto name = make([](const Tensor& x, const Tensor& y) { \
    const Location at = detail::line_of(x, y);                         \
    return hom::name(Operand(x, at), Operand(y, at));                  \
  })
HOM_BINARY_ARROW(pow);
HOM_BINARY_ARROW(maximum);
HOM_BINARY_ARROW(minimum);
HOM_BINARY_ARROW(matmul);
HOM_BINARY_ARROW(solve);
/// (y, x) ↦ the angle of (x, y)
HOM_BINARY_ARROW(atan2);
#undef HOM_BINARY_ARROW

#define HOM_OPERATOR_ARROW(name, symbol)                               \
  inline const auto name = make([](const Tensor& x, const Tensor& y) { \
    const Location at = detail::line_of(x, y);                         \
    return Operand(x, at) symbol Operand(y, at);                       \
  })
HOM_OPERATOR_ARROW(add, +);
HOM_OPERATOR_ARROW(sub, -);
HOM_OPERATOR_ARROW(mul, *);
HOM_OPERATOR_ARROW(div, /);
HOM_OPERATOR_ARROW(rem, %);
HOM_OPERATOR_ARROW(eq, ==);
HOM_OPERATOR_ARROW(ne, !=);
HOM_OPERATOR_ARROW(lt, <);
HOM_OPERATOR_ARROW(le, <=);
HOM_OPERATOR_ARROW(gt, >);
HOM_OPERATOR_ARROW(ge, >=);
#undef HOM_OPERATOR_ARROW

inline const auto where = make([](const Tensor& c, const Tensor& x, const Tensor& y) {
  const Location at = y.location().line() != 0 ? y.location() : detail::line_of(c, x);
  return hom::where(Operand(c, at), Operand(x, at), Operand(y, at));
});

}  // namespace arrows
}  // namespace hom
