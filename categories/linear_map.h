// categories/linear_map.h -- derivatives as linear maps and their transposes: linearize, vjp,
// transpose
#pragma once

#include <hom/categories/derivative.h>
#include <hom/categories/transpose.h>

namespace hom {

/// A linear function between products, as a program that takes residuals first. Call it on a
/// tangent of its domain; `transpose` it.
template <class Domain, class Codomain>
class LinearMap {
 public:
  LinearMap(bool takes_tangents, Program program, std::vector<Tensor> residuals, Domain domain,
            Codomain codomain, const Location& at)
      : takes_tangents_(takes_tangents),
        program_(std::make_shared<const Program>(std::move(program))),
        residuals_(std::move(residuals)),
        domain_(std::move(domain)),
        codomain_(std::move(codomain)),
        at_(at) {}

  /// L(dx); dx has the structure of the domain.
  template <ProductType T>
  Codomain operator()(const T& dx, const Location& at = Location::current()) const {
    std::vector<Tensor> inputs = residuals_;
    const char* what = takes_tangents_ ? "tangent" : "cotangent";
    const std::vector<Tensor> tangents = detail::matching_leaves(what, domain_, dx, at);
    inputs.insert(inputs.end(), tangents.begin(), tangents.end());
    return detail::gradient_like(codomain_, apply(*program_, inputs, at));
  }

  /// Lᵀ, from cotangents of the codomain to cotangents of the domain.
  LinearMap<Codomain, Domain> transposed() const {
    std::vector<bool> linear(residuals_.size(), false);
    linear.resize(program_->inputs().size(), true);
    return {
        !takes_tangents_, hom::transpose(*program_, linear), residuals_, codomain_, domain_, at_};
  }

  const Program& program() const { return *program_; }

 private:
  // The derivative takes tangents, its transpose cotangents: for the words of errors.
  bool takes_tangents_;
  ProgramPtr program_;
  std::vector<Tensor> residuals_;
  // Values whose leaves have the types of the tangents.
  Domain domain_;
  Codomain codomain_;
  Location at_;
};

namespace detail {

/// (f(x…), the derivative at x…) for `linearize` and `vjp`.
template <class F, class W, class... Args>
auto linearize_at(const F& f, W in, const Location& at, const Args&... args) {
  const auto chosen = tensors_in(selected(in, args...));
  require_float_leaves(chosen, at);
  const auto captured = capture_function(f, "", at, args...);
  const std::vector<bool> active = active_inputs(in, captured.captured_operands.size(), args...);
  std::vector<bool> float_outputs;
  for (const TensorType& type : captured.program.output_types())
    float_outputs.push_back(type.dtype.is_float());
  Linearization lin = linearize(captured.program, active, &float_outputs);
  const std::vector<Tensor> results = apply(lin.primal, inputs_of(captured, args...), at);
  const std::size_t outputs = float_outputs.size();
  auto value = with_leaves(captured.skeleton, std::span(results).first(outputs));
  std::vector<Tensor> residuals(results.begin() + static_cast<std::ptrdiff_t>(outputs),
                                results.end());
  LinearMap map(true, std::move(lin.linear), std::move(residuals), chosen, value, at);
  return std::pair{std::move(value), std::move(map)};
}

}  // namespace detail

/// x… ↦ (f(x…), f′(x…)) with the derivative as a linear map that can be applied many times.
template <class F, std::size_t... Is>
  requires(!std::same_as<F, Program>)
auto linearize(F f, Wrt<Is...> in, const Location& at = Location::current()) {
  return [f = std::move(f), in, at](const auto&... args) {
    if constexpr (detail::differentiable<F, Wrt<Is...>, std::remove_cvref_t<decltype(args)>...>)
      return detail::linearize_at(f, in, at, args...);
  };
}
template <class F>
  requires(!std::same_as<F, Program>)
auto linearize(F f, const Location& at = Location::current()) {
  return linearize(std::move(f), wrt<0>, at);
}

/// The transpose of a linear map: a linear map from cotangents to cotangents.
template <class Domain, class Codomain>
auto transpose(const LinearMap<Domain, Codomain>& map) {
  return map.transposed();
}

/// The transpose of a linear function of these arguments (types or example values): ct ↦ Lᵀ(ct).
/// Throws, with the line, where the function is not linear.
template <class F, class... Args>
  requires(sizeof...(Args) > 0 && !std::convertible_to<F, Operand> && !std::same_as<F, Program> &&
           detail::is_capturable<F, Args...>())
auto transpose(F f, const Args&... args) {
  return [f = std::move(f), args...](const auto& ct, const Location& at = Location::current()) {
    const auto captured = detail::capture_function(f, "", at, args...);
    std::vector<bool> linear(captured.program.inputs().size() - captured.captured_operands.size(),
                             true);
    linear.resize(captured.program.inputs().size(), false);
    const Program transposed = transpose(captured.program, linear);
    std::vector<Tensor> inputs = captured.captured_operands;
    detail::append_cotangents(inputs, captured.program.output_types(), leaves(ct), at);
    const std::vector<Tensor> results = apply(transposed, inputs, at);
    if constexpr (sizeof...(Args) == 1) {
      return (detail::cotangents_like(args, results), ...);
    } else {
      return detail::cotangents_like(std::tuple<Args...>{args...}, results);
    }
  };
}

/// x… ↦ (f(x…), pullback), where pullback(ct) is the cotangent of the arguments of `wrt` for a
/// cotangent of the result.
template <class F, std::size_t... Is>
auto vjp(F f, Wrt<Is...> in, const Location& at = Location::current()) {
  return [f = std::move(f), in, at](const auto&... args) {
    if constexpr (detail::differentiable<F, Wrt<Is...>, std::remove_cvref_t<decltype(args)>...>) {
      auto [value, map] = detail::linearize_at(f, in, at, args...);
      return std::pair{std::move(value), transpose(map)};
    }
  };
}
template <class F>
auto vjp(F f, const Location& at = Location::current()) {
  return vjp(std::move(f), wrt<0>, at);
}

}  // namespace hom
