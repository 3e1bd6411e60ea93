// categories/jacobian.h -- derivatives as tensors: jacobian, hessian; and hvp, which never forms
// one
#pragma once

#include <hom/categories/derivative.h>

namespace hom {

/// Which way a Jacobian is built: columns by jvp, rows by vjp, or whichever are fewer.
enum class Mode { automatic, forward, reverse };
/// x… ↦ for each output and each active float input, the derivative, shaped output extents then
/// input extents. Throws where an output is not a float.
Program jacobian(const Program& program, const std::vector<bool>& active, Mode mode,
                 const Location& at);

namespace detail {

/// The Jacobian's structure: for a tensor result, that of the argument. Tuples, arrays, vectors,
/// maps and optionals of results become such of Jacobians; a struct becomes a vector, with one
/// entry for each of its leaves.
template <class Out, class Arguments>
auto jacobian_like(const Out& out, const Arguments& arguments, std::size_t per_output,
                   std::span<const Tensor>& rest) {
  const auto recurse = [&](const auto& part) {
    return jacobian_like(part, arguments, per_output, rest);
  };
  if constexpr (std::same_as<Out, Tensor>) {
    // The unit, as in the gradient of an integer, has no derivative: every leaf stays empty.
    const std::size_t count = out.is_empty() ? 0 : per_output;
    const std::vector<Tensor> none(per_output);
    auto result = gradient_like(arguments, count ? rest.first(count) : std::span(none));
    rest = rest.subspan(count);
    return result;
  } else if constexpr (is_tuple_like<Out>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<decltype(recurse(std::get<I>(out)))...>{recurse(std::get<I>(out))...};
    }(std::make_index_sequence<std::tuple_size_v<Out>>());
  } else if constexpr (is_instance<Out, std::vector>) {
    std::vector<decltype(recurse(out[0]))> all;
    for (const auto& part : out) all.push_back(recurse(part));
    return all;
  } else if constexpr (is_instance<Out, std::map>) {
    std::map<typename Out::key_type, decltype(recurse(out.begin()->second))> all;
    for (const auto& [key, part] : out) all.emplace(key, recurse(part));
    return all;
  } else if constexpr (is_instance<Out, std::optional>) {
    return out ? std::optional(recurse(*out)) : std::nullopt;
  } else {
    std::vector<TensorsOf<Arguments>> all;
    auto append = [&](const Tensor& leaf, const Path&) { all.push_back(recurse(leaf)); };
    for_each_leaf(out, append, Path(""));
    return all;
  }
}

}  // namespace detail

/// x… ↦ the derivative as tensors: for each result and each leaf of the argument, shaped result
/// extents then argument extents. For a tensor result it has the structure of the argument; for a
/// tuple, vector or map of results it is one of such. For a struct it is a vector of such, one for
/// each leaf, in the order of `leaf_paths`.
template <class F, std::size_t... Is>
  requires(!std::same_as<F, Program>)
auto jacobian(F f, Wrt<Is...> in, Mode mode = Mode::automatic,
              const Location& at = Location::current()) {
  return [f = std::move(f), in, mode, at](const auto&... args) {
    if constexpr (detail::differentiable<F, Wrt<Is...>, std::remove_cvref_t<decltype(args)>...>) {
      const auto chosen = detail::tensors_in(detail::selected(in, args...));
      detail::require_float_leaves(chosen, at);
      const auto captured = detail::capture_function(f, "", at, args...);
      const std::vector<bool> active =
          detail::active_inputs(in, captured.captured_operands.size(), args...);
      const Program derivative = jacobian(captured.program, active, mode, at);
      const std::vector<Tensor> results =
          apply(derivative, detail::inputs_of(captured, args...), at);
      std::size_t per_output = 0;
      for (const Tensor& leaf : leaves(chosen)) per_output += leaf.dtype().is_float();
      std::span<const Tensor> rest(results);
      return detail::jacobian_like(captured.skeleton, chosen, per_output, rest);
    }
  };
}
template <class F>
  requires(!std::same_as<F, Program>)
auto jacobian(F f, Mode mode = Mode::automatic, const Location& at = Location::current()) {
  return jacobian(std::move(f), wrt<0>, mode, at);
}

/// x… ↦ the second derivatives of a scalar function: the Jacobian of its gradient, forward over
/// reverse.
template <class F, std::size_t... Is>
auto hessian(F f, Wrt<Is...> in, const Location& at = Location::current()) {
  return jacobian(grad(std::move(f), in, at), in, Mode::forward, at);
}
template <class F>
auto hessian(F f, const Location& at = Location::current()) {
  return hessian(std::move(f), wrt<0>, at);
}

/// (x…, v) ↦ H·v without forming H: the derivative of the gradient along v (one v for each argument
/// of `wrt`).
template <class F, std::size_t... Is>
auto hvp(F f, Wrt<Is...> in, const Location& at = Location::current()) {
  return [derivative = jvp(grad(std::move(f), in, at), in, at)](const auto&... args) {
    return derivative(args...).second;
  };
}
template <class F>
auto hvp(F f, const Location& at = Location::current()) {
  return hvp(std::move(f), wrt<0>, at);
}

}  // namespace hom
