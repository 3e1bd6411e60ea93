// categories/custom_rules.h -- functions with derivatives, or kernels, of one's own: custom_jvp,
// custom_vjp, custom_linear, composite, checkpoint, barrier
//
// Each takes function objects and gives one of the same arguments. A rule is captured at the types
// of each use and becomes part of the program, so that it is itself differentiated, batched and
// printed. It covers the arguments: differentiating in a tensor that a closure holds is an `Error`.
#pragma once

#include <hom/categories/derivative.h>
#include <hom/core/loops.h>

namespace hom {

namespace detail {

/// The structure of a value with stand-ins for its leaves; of its tangent, without the leaves that
/// are not floats.
template <class T>
TensorsOf<T> stand_ins_like(const T& value, std::span<const TensorType> types) {
  std::vector<Tensor> list;
  for (const TensorType& type : types) list.push_back(stand_in(type));
  return with_leaves(value, list);
}
template <class T>
TensorsOf<T> tangent_stand_ins_like(const T& value, const Location& at) {
  auto stand = [&](const auto& leaf, const Path&) -> Tensor {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) return leaf;
    }
    const TensorType type = leaf_type(leaf, at);
    return type.dtype.is_float() ? stand_in(type) : Tensor();
  };
  return map_leaves(value, stand, Path(""));
}

inline Attribute whole_number(std::size_t number) { return {static_cast<std::int64_t>(number)}; }
template <class... Args>
std::size_t leaf_count(const Args&... args) {
  return (leaf_paths(args).size() + ... + 0);
}

/// The results of one step with programs inside, in a structure.
template <class Output>
Output apply_custom(const char* primitive, const Attributes& attributes,
                    const std::vector<Tensor>& operands, const Output& skeleton,
                    const Location& at) {
  const TensorList results = apply(standard_primitives().find(primitive), attributes, operands, at);
  return with_leaves(skeleton, {results.data(), results.size()});
}

template <class F, class... Args>
using result_of =
    decltype(tensors_in(std::declval<const F&>()(std::declval<TensorsOf<Args>>()...)));

/// Whether the two functions of custom_vjp fit each other.
template <class Backward, class Output, class Kept>
constexpr bool is_forward_and_backward() {
  constexpr bool is_pair = [] {
    if constexpr (is_instance<Kept, std::pair> || is_instance<Kept, std::tuple>) {
      if constexpr (std::tuple_size_v<Kept> == 2)
        return std::same_as<std::tuple_element_t<0, Kept>, Output>;
    }
    return false;
  }();
  static_assert(is_pair, "hom: the forward function of custom_vjp returns pair{f(x…), residuals}.");
  if constexpr (is_pair) {
    constexpr bool callable =
        std::is_invocable_v<const Backward&, const std::tuple_element_t<1, Kept>&, const Output&>;
    static_assert(
        callable,
        "hom: the backward function of custom_vjp takes the residuals, as forward returns "
        "them, and the cotangent of the result.");
    return callable;
  } else {
    return false;
  }
}

/// A pair of cotangents is as good as a tuple of two.
template <class T>
auto as_tuple(const T& cotangents) {
  if constexpr (is_instance<T, std::pair>) {
    return std::tuple(cotangents.first, cotangents.second);
  } else {
    return cotangents;
  }
}

/// Throws where a leaf of what custom_linear is linear in, or of its result, is not a float.
inline void require_floats(const char* what, const Leaves& leaves, const Location& at) {
  for (std::size_t i = 0; i < leaves.types.size(); ++i) {
    require(leaves.types[i].dtype.is_float(), at, [&] {
      return Complaint{std::string("custom_linear: ") + what + " `" + leaves.paths[i] + "` is " +
                           to_string(leaves.types[i]) + ", and only floats vary",
                       "convert with astype, or pass it among the residuals"};
    });
  }
}

}  // namespace detail

/// f, whose derivative is given by `rule`: (x…, y, dx…) ↦ dy, with y = f(x…). A tangent has the
/// structure of its value; those of integers and bools are empty. The rule is linear in the
/// tangents: forward mode does not check it, reverse mode transposes it and names the line that is
/// not linear (J. Bradbury et al., JAX, `custom_jvp`).
template <class F, class Rule>
auto custom_jvp(F f, Rule rule, const Location& at = Location::current()) {
  return [f = std::move(f), rule = std::move(rule), at](const auto&... args) {
    if constexpr (detail::is_capturable<F, std::remove_cvref_t<decltype(args)>...>()) {
      using Output = detail::result_of<F, std::remove_cvref_t<decltype(args)>...>;
      constexpr bool takes_all =
          std::is_invocable_v<const Rule&, const TensorsOf<decltype(args)>&..., const Output&,
                              const TensorsOf<decltype(args)>&...>;
      static_assert(takes_all,
                    "hom: the rule of custom_jvp takes the arguments of the function, its result, "
                    "and one tangent for each argument: (x…, y, dx…).");
      if constexpr (takes_all) {
        if (!Capture::current()) return Output(detail::tensors_in(f(detail::tensors_in(args)...)));
        auto primal = detail::capture_function(f, "custom_jvp", at, args...);
        const auto tangent_of = [&](const auto&... all) {
          const auto& y = std::get<sizeof...(args)>(std::tie(all...));
          return detail::matching_leaves("custom_jvp: the rule's", y,
                                         detail::tensors_in(rule(all...)), at, "tangent");
        };
        auto derivative = detail::capture_function(
            tangent_of, "rule", at, args...,
            detail::stand_ins_like(primal.skeleton, primal.program.output_types()),
            detail::tangent_stand_ins_like(args, at)...);
        const auto [program, rule_program] = detail::with_common_inputs(primal, derivative);
        return detail::apply_custom(
            "custom_jvp",
            {{"program", {program}},
             {"rule", {rule_program}},
             {"arguments", detail::whole_number(detail::leaf_count(args...))}},
            detail::common_inputs(std::tie(args...), primal, derivative), primal.skeleton, at);
      }
    }
  };
}

/// f, whose reverse mode is given: `forward`(x…) = pair{f(x…), residuals} and `backward`(residuals,
/// ȳ) = x̄, of one argument its cotangent, of several a tuple (or pair) of theirs. Where `backward`
/// is linear in ȳ its transpose is forward mode; otherwise (it clips, say) forward mode is an
/// `Error`.
template <class F, class Forward, class Backward>
auto custom_vjp(F f, Forward forward, Backward backward, const Location& at = Location::current()) {
  return [f = std::move(f), forward = std::move(forward), backward = std::move(backward),
          at](const auto&... args) {
    if constexpr (detail::is_capturable<F, std::remove_cvref_t<decltype(args)>...>() &&
                  detail::is_capturable<Forward, std::remove_cvref_t<decltype(args)>...>()) {
      using Output = detail::result_of<F, std::remove_cvref_t<decltype(args)>...>;
      using Kept = detail::result_of<Forward, std::remove_cvref_t<decltype(args)>...>;
      if constexpr (detail::is_forward_and_backward<Backward, Output, Kept>()) {
        if (!Capture::current()) return Output(detail::tensors_in(f(detail::tensors_in(args)...)));
        auto primal = detail::capture_function(f, "custom_vjp", at, args...);
        auto kept = detail::capture_function(forward, "forward", at, args...);
        const std::vector<TensorType> types = kept.program.output_types();
        const std::size_t results = primal.program.outputs().size();
        const auto y = detail::stand_ins_like(primal.skeleton, primal.program.output_types());
        constexpr const char* backwards = "custom_vjp: the backward function's";
        const auto cotangents_of = [&](const auto& r, const auto& ct) {
          const auto given = detail::tensors_in(backward(r, ct));
          if constexpr (sizeof...(args) == 1) {
            return detail::matching_leaves(backwards, args..., given, at, "cotangent");
          } else {
            return detail::matching_leaves(backwards, std::tuple(detail::tensors_in(args)...),
                                           detail::as_tuple(given), at, "cotangent");
          }
        };
        auto pullback = detail::capture_function(
            cotangents_of, "backward", at,
            detail::stand_ins_like(std::get<1>(kept.skeleton),
                                   std::span(types).subspan(std::min(results, types.size()))),
            detail::tangent_stand_ins_like(y, at));
        const auto [program, forward_program, backward_program] =
            detail::with_common_inputs(primal, kept, pullback);
        return detail::apply_custom(
            "custom_vjp",
            {{"program", {program}},
             {"forward", {forward_program}},
             {"backward", {backward_program}},
             {"arguments", detail::whole_number(detail::leaf_count(args...))}},
            detail::common_inputs(std::tie(args...), primal, kept, pullback), primal.skeleton, at);
      }
    }
  };
}

/// (residuals, x) ↦ y, linear in x, with its transpose given: `transposed`(residuals, ȳ) = x̄. A
/// linear solver is one: solve(A, b), whose transpose is solve(Aᵀ, ȳ). In the residuals it is
/// differentiated as any function. All leaves of x and y are floats.
template <class Forward, class Transposed>
auto custom_linear(Forward forward, Transposed transposed,
                   const Location& at = Location::current()) {
  return [forward = std::move(forward), transposed = std::move(transposed), at](
             const auto& residuals, const auto& x) {
    using R = std::remove_cvref_t<decltype(residuals)>;
    using X = std::remove_cvref_t<decltype(x)>;
    if constexpr (detail::is_capturable<Forward, R, X>()) {
      using Output = detail::result_of<Forward, R, X>;
      constexpr bool takes_cotangent =
          std::is_invocable_v<const Transposed&, const TensorsOf<R>&, const Output&>;
      static_assert(takes_cotangent,
                    "hom: the transposed function of custom_linear takes the residuals and the "
                    "cotangent of the result.");
      if constexpr (takes_cotangent) {
        detail::require_floats("the operand", detail::typed_leaves(x, "x", at), at);
        if (!Capture::current())
          return Output(
              detail::tensors_in(forward(detail::tensors_in(residuals), detail::tensors_in(x))));
        auto map = detail::capture_function(forward, "forward", at, residuals, x);
        detail::require_floats("the result",
                               {map.program.output_types(), leaf_paths(map.skeleton, "y")}, at);
        const auto cotangent_of = [&](const auto& r, const auto& ct) {
          return detail::matching_leaves("custom_linear: the transposed function's", x,
                                         detail::tensors_in(transposed(r, ct)), at, "cotangent");
        };
        auto back = detail::capture_function(
            cotangent_of, "transposed", at, residuals,
            detail::stand_ins_like(map.skeleton, map.program.output_types()));
        const auto [forward_program, transposed_program] = detail::with_common_inputs(map, back);
        return detail::apply_custom(
            "custom_linear",
            {{"forward", {forward_program}},
             {"transposed", {transposed_program}},
             {"residuals", detail::whole_number(detail::leaf_count(residuals))},
             {"linear", detail::whole_number(detail::leaf_count(x))}},
            detail::common_inputs(std::tie(residuals, x), map, back), map.skeleton, at);
      }
    }
  };
}

/// f under a name that an executor may know a kernel for (`KernelTable::add_composite`); otherwise,
/// and for every category, it is its decomposition f.
template <class F>
auto composite(std::string name, F f, const Location& at = Location::current()) {
  return [name = std::move(name), f = std::move(f), at](const auto&... args) {
    if constexpr (detail::is_capturable<F, std::remove_cvref_t<decltype(args)>...>()) {
      auto captured = detail::capture_function(f, name, at, args...);
      const std::vector<Tensor> operands = detail::inputs_of(captured, args...);
      return detail::apply_custom(
          "composite",
          {{"program", {std::make_shared<const Program>(std::move(captured.program))}},
           {"name", {name}}},
          operands, captured.skeleton, at);
    }
  };
}

/// f, of which reverse mode keeps the arguments only and computes everything else once more when it
/// comes to need it: memory for time (see also `ScanOptions::checkpoint`).
template <class F>
auto checkpoint(F f, const Location& at = Location::current()) {
  return [f = std::move(f), at](const auto&... args) {
    if constexpr (detail::is_capturable<F, std::remove_cvref_t<decltype(args)>...>()) {
      using Output = detail::result_of<F, std::remove_cvref_t<decltype(args)>...>;
      if (!Capture::current()) return Output(detail::tensors_in(f(detail::tensors_in(args)...)));
      auto captured = detail::capture_function(f, "checkpoint", at, args...);
      const std::vector<Tensor> operands = detail::inputs_of(captured, args...);
      return detail::apply_custom(
          "checkpoint",
          {{"program", {std::make_shared<const Program>(std::move(captured.program))}}}, operands,
          captured.skeleton, at);
    }
  };
}

/// The product itself, of which no leaf is used before all of them are computed, and nothing is
/// simplified or shared across it. Its derivative is a barrier of tangents.
template <ProductType T>
TensorsOf<T> barrier(const T& product, const Location& at = Location::current()) {
  const std::vector<Tensor> all = leaves(product);
  if (all.empty()) return detail::tensors_in(product);
  return detail::apply_custom("barrier", {}, all, detail::tensors_in(product), at);
}

}  // namespace hom
