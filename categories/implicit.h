// categories/implicit.h -- derivatives of solutions by the implicit function theorem
#pragma once

#include <hom/categories/custom_rules.h>

namespace hom {

namespace detail {
/// From the program unknowns…, arguments…, closure… ↦ residual… the rule of a custom_jvp:
/// arguments…, unknowns…, tangents of the float arguments…, closure… ↦ tangents of the unknowns….
Program implicit_rule(const Program& residual, std::size_t unknowns, std::size_t arguments,
                      const Location& at);
/// The largest absolute difference of corresponding elements, as f64[]. Throws where types differ.
/// And +∞ as f64[].
Tensor largest_change(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                      const Location& at);
Tensor infinite(const Location& at);
}  // namespace detail

/// x⋆ = solve(θ…), differentiated as the solution of residual(x⋆, θ…) = 0 and not as whatever
/// `solve` does: dx⋆ = −(∂residual/∂x)⁻¹ (∂residual/∂θ · dθ), one linear solve in forward mode and
/// one with the transpose in reverse mode, to any order. The residual has the structure of x⋆; all
/// of its leaves are floats of one dtype. `solve` runs as it is: a while_loop in it needs no bound.
/// The linear system is solved by elimination with partial pivoting, O(n³) for n unknowns; where
/// ∂residual/∂x is singular the derivative does not exist and comes out as NaN or infinite. (S. Bai
/// et al., "Deep equilibrium models", 2019; M. Blondel et al., "Efficient and modular implicit
/// differentiation", 2022.)
template <class Solve, class Residual>
auto implicit(Solve solve, Residual residual, const Location& at = Location::current()) {
  return [solve = std::move(solve), residual = std::move(residual), at](const auto&... args) {
    if constexpr (detail::is_capturable<Solve, std::remove_cvref_t<decltype(args)>...>()) {
      using Output = detail::result_of<Solve, std::remove_cvref_t<decltype(args)>...>;
      constexpr bool takes_all =
          std::is_invocable_v<const Residual&, const Output&, const TensorsOf<decltype(args)>&...>;
      static_assert(takes_all,
                    "hom: the residual of implicit takes the solution, then the arguments: "
                    "residual(x, θ…).");
      if constexpr (takes_all) {
        if (!Capture::current())
          return Output(detail::tensors_in(solve(detail::tensors_in(args)...)));
        auto solution = detail::capture_function(solve, "implicit", at, args...);
        const auto residual_of = [&](const auto& x, const auto&... rest) {
          return detail::matching_leaves("implicit: the", x,
                                         detail::tensors_in(residual(x, rest...)), at, "residual");
        };
        auto equations = detail::capture_function(
            residual_of, "residual", at,
            detail::stand_ins_like(solution.skeleton, solution.program.output_types()), args...);
        equations.program = detail::implicit_rule(
            equations.program, solution.program.outputs().size(), detail::leaf_count(args...), at);
        const auto [program, rule] = detail::with_common_inputs(solution, equations);
        return detail::apply_custom(
            "custom_jvp",
            {{"program", {program}},
             {"rule", {rule}},
             {"arguments", detail::whole_number(detail::leaf_count(args...))}},
            detail::common_inputs(std::tie(args...), solution, equations), solution.skeleton, at);
      }
    }
  };
}

struct FixedPointOptions {
  /// Stop when no element changes by more than this.
  double tolerance = 1e-12;
  /// Throws nothing beyond: the last iterate is the result.
  std::int64_t max_iterations = 10'000;
};

/// (θ…) ↦ the fixed point x = f(x, θ…), by iteration from `start` and differentiated implicitly.
/// The iteration converges where f contracts.
template <class F, class Start>
auto fixed_point(F f, Start start, const FixedPointOptions& options = {},
                 const Location& at = Location::current()) {
  const auto iterate = [f, start, options, at](const auto&... args) {
    using X = TensorsOf<Start>;
    const auto goes_on = [&](const Tensor& change, const X&) {
      return Operand(change, at) > Operand(options.tolerance, at);
    };
    const auto step = [&](const Tensor&, const X& x) {
      const X next = detail::tensors_in(f(x, args...));
      return std::pair{detail::largest_change(leaves(x), leaves(next), at), next};
    };
    return while_loop(goes_on, step, std::pair{detail::infinite(at), detail::tensors_in(start)},
                      {.bound = options.max_iterations}, at)
        .second;
  };
  const auto residual = [f, at](const auto& x, const auto&... args) {
    return tree_map(
        [&](const Tensor& a, const Tensor& b) { return Operand(a, at) - Operand(b, at); },
        detail::tensors_in(f(x, args...)), x, at);
  };
  return implicit(iterate, residual, at);
}

}  // namespace hom
