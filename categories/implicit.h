// categories/implicit.h -- derivatives of solutions by the implicit function theorem
#pragma once

#include <hom/categories/custom_rules.h>

namespace hom {

namespace detail {
/// From the program unknowns…, arguments…, closure… ↦ residual… the rule of a custom_jvp:
/// arguments…, unknowns…, tangents of the float arguments…, closure… ↦ tangents of the unknowns….
Program implicit_rule(const Program& residual, std::size_t unknowns, std::size_t arguments,
                      const Location& at);
/// bool[]: whether an element of the next iterate differs from its old value by more than the
/// tolerance. False where one is NaN, as it then remains. Throws where types differ.
Tensor still_changes(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                     double tolerance, const Location& at);
/// The leaf where the iteration has settled; else NaN throughout.
Tensor settled_or_nan(const Tensor& leaf, const Tensor& changes, const Location& at);
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
  /// The iteration ends when no element changes by more than this times the greater of 1 and its
  /// absolute value. 0 is by the dtype of each leaf: 10⁻¹² in f64, 10⁻⁶ in f32, 0.01 in f16, 0.1 in
  /// bf16.
  double tolerance = 0;
  /// Where elements still change after so many, there is no fixed point to return: all floats of
  /// the result are NaN. (Derivatives are those of the equation x = f(x, θ…) there.)
  std::int64_t max_iterations = 10'000;
};

/// (θ…) ↦ the fixed point x = f(x, θ…), by iteration from `start` and differentiated implicitly.
/// The iteration converges where f contracts; where it does not the result is NaN.
template <class F, class Start>
auto fixed_point(F f, Start start, const FixedPointOptions& options = {},
                 const Location& at = Location::current()) {
  const auto iterate = [f, start, options, at](const auto&... args) {
    using X = TensorsOf<Start>;
    const auto goes_on = [](const Tensor& changes, const X&) { return changes; };
    const auto step = [&](const Tensor&, const X& x) {
      const X next = detail::tensors_in(f(x, args...));
      return std::pair{detail::still_changes(leaves(x), leaves(next), options.tolerance, at), next};
    };
    const auto [changes, x] =
        while_loop(goes_on, step, std::pair{Tensor(true), detail::tensors_in(start)},
                   {.bound = options.max_iterations}, at);
    return tree_map([&, &unsettled = changes](
                        const Tensor& leaf) { return detail::settled_or_nan(leaf, unsettled, at); },
                    x, at);
  };
  const auto residual = [f, at](const auto& x, const auto&... args) {
    return tree_map(
        [&](const Tensor& a, const Tensor& b) { return Operand(a, at) - Operand(b, at); },
        detail::tensors_in(f(x, args...)), x, at);
  };
  return implicit(iterate, residual, at);
}

}  // namespace hom
