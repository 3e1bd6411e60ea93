// core/loops.h -- loops as arrows: while_loop, fori_loop, scan, map, and switch_ among branches
//
// A loop is one step of a program, whatever the number of its iterations. Its body is captured
// once, with tensors for the carry; what the body holds of enclosing captures becomes operands. A
// carry is any product of tensors and keeps its structure, dtypes and shapes; where the body does
// not take the product itself, a tuple or pair spreads over its parameters, but for `scan`, whose
// function takes the carry whole, then one element: f(carry, x). All loops are differentiable to
// any order; for reverse mode a `while_loop` needs a bound.
#pragma once

#include <hom/core/function.h>
#include <hom/core/operations/elementwise.h>

namespace hom {

struct WhileOptions {
  static constexpr std::int64_t unbounded = -1;
  /// At most so many iterations: the loop then stops though the condition holds. Reverse mode keeps
  /// the values of so many.
  std::int64_t bound = unbounded;
};

struct ScanOptions {
  /// From the last element to the first; results are stacked in the order of the elements.
  bool reverse = false;
  /// Keep the carries of about √n iterations for reverse mode instead of the values of all n, and
  /// run each stretch between them once more (A. Griewank, "Achieving logarithmic growth of
  /// temporal and spatial complexity in reverse automatic differentiation", 1992, with one level).
  bool checkpoint = false;
};

namespace detail {

/// f(first…, value), or with a tuple in place of its entries where f does not take it whole.
template <class F, class T, class... First>
decltype(auto) call_on(const F& f, const T& value, const First&... first) {
  if constexpr (!std::is_invocable_v<const F&, const First&..., const T&> && is_tuple_like<T>) {
    return std::apply([&](const auto&... entries) { return f(first..., entries...); }, value);
  } else {
    return f(first..., value);
  }
}
template <class F, class T, class... First>
constexpr bool callable_on() {
  if constexpr (std::is_invocable_v<const F&, const First&..., const T&>) {
    return true;
  } else if constexpr (is_tuple_like<T>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::is_invocable_v<const F&, const First&..., const std::tuple_element_t<I, T>&...>;
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    return false;
  }
}

/// Whether f takes (first…, carry): the compiler's first error says why not.
template <class F, class Carry, class... First>
constexpr bool is_loop_function() {
  static_assert(is_product<Carry>(),
                "hom: the carry of a loop is not a product of tensors. Pass tensors, numbers, or "
                "tuple, pair, array, vector, map or optional of such, or an adapted struct.");
  if constexpr (is_product<Carry>()) {
    constexpr bool callable = callable_on<F, TensorsOf<Carry>, First...>();
    static_assert(callable,
                  "hom: the function of a loop cannot be called with its carry. It takes the carry "
                  "as one parameter (Tensor, a product, or auto), or each entry of a tuple or pair "
                  "as one.");
    return callable;
  } else {
    return false;
  }
}

/// What f returns on (first…, carry), with tensors for numbers.
template <class F, class Carry, class... First>
using loop_result = typename WithTensors<std::remove_cvref_t<decltype(call_on(
    std::declval<const F&>(), std::declval<const TensorsOf<Carry>&>(),
    std::declval<const First&>()...))>>::type;

template <class Result, class Carry>
constexpr bool keeps_carry() {
  constexpr bool same = std::same_as<Result, TensorsOf<Carry>>;
  static_assert(same,
                "hom: the body of a loop returns the carry in the C++ type in which it takes "
                "it: Tensor for Tensor, the same tuple, pair or struct.");
  return same;
}

/// The types of leaves, with their paths.
struct Leaves {
  std::vector<TensorType> types;
  std::vector<std::string> paths;
};
template <class T>
Leaves typed_leaves(const T& product, std::string_view root, const Location& at) {
  Leaves all;
  auto look = [&](const auto& leaf, const Path& path) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) return;
    }
    all.types.push_back(leaf_type(leaf, at));
    all.paths.push_back(path.text());
  };
  for_each_leaf(product, look, Path(root));
  return all;
}

/// Throws where the carry that a body returns (the first outputs of its program, at these paths)
/// differs from the one that it takes.
void require_same_carry(const char* loop, const Leaves& taken, const Program& body,
                        const std::vector<std::string>& returned, const Location& at);

/// Stand-ins for elements along the first axis of each leaf. Throws where a leaf has none, or
/// leaves differ in its extent, which is the length of the loop.
std::vector<Tensor> element_stand_ins(const char* loop, const Leaves& xs, std::int64_t& length,
                                      const Location& at);

/// lower, …, upper − 1 as i64.
Tensor positions(std::int64_t lower, std::int64_t upper, const Location& at);
/// Both bounds in one integer dtype. Throws unless they are integers of rank 0.
std::pair<Tensor, Tensor> common_bounds(const Tensor& lower, const Tensor& upper,
                                        const Location& at);

std::vector<Tensor> apply_scan(Program body, const std::vector<Tensor>& carries,
                               const std::vector<Tensor>& scanned,
                               const std::vector<Tensor>& constants, std::int64_t length,
                               const ScanOptions& options, const Location& at);
std::vector<Tensor> apply_while(ProgramPtr condition, ProgramPtr body, std::size_t carries,
                                const std::vector<Tensor>& operands, const WhileOptions& options,
                                const Location& at);

/// A scan of f : (carry, element) → pair of carry and y.
template <class F, class Carry, class Xs>
auto scan(const char* loop, const F& f, const Carry& init, const Xs& xs, const ScanOptions& options,
          const Location& at) {
  std::int64_t length = 0;
  const std::vector<Tensor> elements =
      element_stand_ins(loop, typed_leaves(xs, "xs", at), length, at);
  auto captured = capture_function(f, loop, at, init, with_leaves(xs, elements));
  const auto& [carry, y] = captured.skeleton;
  const Leaves taken = typed_leaves(init, "carry", at);
  require_same_carry(loop, taken, captured.program, leaf_paths(carry, "carry"), at);
  const std::vector<Tensor> results =
      apply_scan(std::move(captured.program), leaves(init), leaves(xs), captured.captured_operands,
                 length, options, at);
  const std::span<const Tensor> all(results);
  return std::pair{with_leaves(carry, all.first(taken.types.size())),
                   with_leaves(y, all.subspan(taken.types.size()))};
}

}  // namespace detail

/// The carry after body has been applied to it while condition(carry), a bool[], holds:
/// while (condition(c)) c = body(c). Without a bound, forward mode only; `grad` of it is an error
/// that says what to do. Throws where the body changes a dtype or shape of the carry.
template <class Condition, class Body, class Carry>
auto while_loop(const Condition& condition, const Body& body, const Carry& init,
                const WhileOptions& options = {}, const Location& at = Location::current()) {
  if constexpr (detail::is_loop_function<Condition, Carry>() &&
                detail::is_loop_function<Body, Carry>()) {
    if constexpr (detail::keeps_carry<detail::loop_result<Body, Carry>, Carry>()) {
      auto test = detail::capture_function(
          [&](const auto& carry) { return detail::call_on(condition, carry); }, "condition", at,
          init);
      auto step = detail::capture_function(
          [&](const auto& carry) { return detail::call_on(body, carry); }, "body", at, init);
      const detail::Leaves taken = detail::typed_leaves(init, "carry", at);
      detail::require_same_carry("while_loop", taken, step.program,
                                 leaf_paths(step.skeleton, "carry"), at);
      const std::vector<Tensor> operands = detail::common_inputs(std::tie(init), test, step);
      const auto [condition_program, body_program] = detail::with_common_inputs(test, step);
      return with_leaves(step.skeleton,
                         detail::apply_while(condition_program, body_program, taken.types.size(),
                                             operands, options, at));
    }
  }
}

/// (carry, ys) after f(carry, x) = pair{next carry, y} for each element x along the first axis of
/// every leaf of xs; the y of all elements are stacked along a new first axis. Throws where leaves
/// of xs differ in their first extent, or f changes a dtype or shape of the carry.
template <class F, class Carry, class Xs>
auto scan(const F& f, const Carry& init, const Xs& xs, const ScanOptions& options = {},
          const Location& at = Location::current()) {
  if constexpr (detail::is_capturable<F, Carry, Xs>()) {
    using Result = std::remove_cvref_t<
        std::invoke_result_t<const F&, const TensorsOf<Carry>&, const TensorsOf<Xs>&>>;
    constexpr bool is_pair =
        detail::is_instance<Result, std::pair> || detail::is_instance<Result, std::tuple>;
    static_assert(is_pair,
                  "hom: the function of scan returns pair{carry, y}; y may be std::tuple<>{}.");
    if constexpr (is_pair) {
      static_assert(std::tuple_size_v<Result> == 2,
                    "hom: the function of scan returns pair{carry, y}; y may be std::tuple<>{}.");
      using Next = typename detail::WithTensors<std::tuple_element_t<0, Result>>::type;
      if constexpr (detail::keeps_carry<Next, Carry>())
        return detail::scan("scan", f, init, xs, options, at);
    }
  }
}

/// The carry after body(i, carry) for i = lower, …, upper − 1, i as i64[]. Of C++ integers the
/// number of iterations is known, so that reverse mode needs no bound.
template <class Body, class Carry>
auto fori_loop(std::int64_t lower, std::int64_t upper, const Body& body, const Carry& init,
               const ScanOptions& options = {}, const Location& at = Location::current()) {
  if constexpr (detail::is_loop_function<Body, Carry, Tensor>()) {
    if constexpr (detail::keeps_carry<detail::loop_result<Body, Carry, Tensor>, Carry>()) {
      const auto step = [&](const auto& carry, const Tensor& i) {
        return std::pair{detail::tensors_in(detail::call_on(body, carry, i)), std::tuple<>()};
      };
      return detail::scan("fori_loop", step, init, detail::positions(lower, upper, at), options, at)
          .first;
    }
  }
}
/// The same with bounds that are computed: a while_loop, whose reverse mode needs a bound. i has
/// the dtype of the bounds, integers of rank 0.
template <class Body, class Carry>
auto fori_loop(const Tensor& lower, const Tensor& upper, const Body& body, const Carry& init,
               const WhileOptions& options = {}, const Location& at = Location::current()) {
  if constexpr (detail::is_loop_function<Body, Carry, Tensor>()) {
    if constexpr (detail::keeps_carry<detail::loop_result<Body, Carry, Tensor>, Carry>()) {
      const auto [from, to] = detail::common_bounds(lower, upper, at);
      const auto test = [&, to = to](const Tensor& i, const auto&) {
        return Operand(i, at) < Operand(to, at);
      };
      const auto step = [&](const Tensor& i, const auto& carry) {
        return std::pair{Operand(i, at) + Operand(1, at),
                         detail::tensors_in(detail::call_on(body, carry, i))};
      };
      return while_loop(test, step, std::pair{from, detail::tensors_in(init)}, options, at).second;
    }
  }
}

/// f applied to each element along the first axis of every leaf of xs, one after the other; results
/// are stacked. (`vmap` does all at once.)
template <class F, class Xs>
auto map(const F& f, const Xs& xs, const Location& at = Location::current()) {
  if constexpr (detail::is_loop_function<F, Xs>()) {
    const auto step = [&](const std::tuple<>& none, const auto& x) {
      return std::pair{none, detail::tensors_in(detail::call_on(f, x))};
    };
    return detail::scan("map", step, std::tuple<>(), xs, {}, at).second;
  }
}

namespace detail {
template <std::size_t First, std::size_t Last, class... Branches, class... Args>
auto switch_between(const Tensor& index, const Location& at,
                    const std::tuple<Branches...>& branches, const Args&... operands) {
  if constexpr (Last - First == 1) {
    return tensors_in(std::get<First>(branches)(operands...));
  } else {
    constexpr std::size_t middle = (First + Last) / 2;
    const Tensor lower = Operand(index, at) < Operand(static_cast<std::int64_t>(middle), at);
    return cond(
        Operand(lower, at),
        [&](const auto&... x) { return switch_between<First, middle>(index, at, branches, x...); },
        [&](const auto&... x) { return switch_between<middle, Last>(index, at, branches, x...); },
        operands...);
  }
}
/// Throws unless the index is an integer of rank 0.
Tensor switch_index(const Operand& index);
}  // namespace detail

/// Branch number `index` (an integer of rank 0; below 0 the first, beyond the end the last) on the
/// operands; only that one runs. All return the same structure and types. It is a tree of `cond`,
/// of depth ⌈log₂ n⌉: switch_(i, std::tuple{f, g, h}, x).
template <class... Branches, class... Args>
auto switch_(const Operand& index, const std::tuple<Branches...>& branches,
             const Args&... operands) {
  static_assert(sizeof...(Branches) > 0, "hom: switch_ takes at least one branch.");
  if constexpr (sizeof...(Branches) > 0 && (detail::is_capturable<Branches, Args...>() && ...)) {
    return detail::switch_between<0, sizeof...(Branches)>(detail::switch_index(index), index.at(),
                                                          branches, operands...);
  }
}

}  // namespace hom
