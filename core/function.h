// core/function.h -- ordinary C++ function objects as programs
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <hom/core/capture.h>
#include <hom/core/product.h>

namespace hom {

/// A function captured at certain argument types.
template <class Output>
struct Captured {
  Program program;
  /// Operands for the program's last inputs: symbols of enclosing captures that the function's
  /// closure holds.
  std::vector<Tensor> captured_operands;
  /// The output with symbols for leaves: the structure to be filled with results.
  Output skeleton;
};

namespace detail {

/// A tensor of the type, of no meaning and one element's memory: it stands for others of the type
/// while a function is captured.
Tensor stand_in(TensorType type);

/// x, y, z for up to three arguments, x0, x1, … for more.
std::vector<std::string> argument_names(std::size_t count);

/// A concrete tensor of one unset element in the place of others of this type: an example for
/// captures.
Tensor stand_in(const TensorType& type);

template <class Leaf>
TensorType leaf_type(const Leaf& leaf, const Location& at) {
  if constexpr (std::same_as<Leaf, TensorType>) {
    return leaf;
  } else if constexpr (std::same_as<Leaf, Tensor>) {
    return leaf.type(at);
  } else {
    return dtype_of<Leaf>()[{}];
  }
}

template <class T>
TensorsOf<T> symbols_like(Capture& capture, const T& argument, std::string_view name,
                          const Location& at) {
  auto symbol = [&](const auto& leaf, const Path& path) -> Tensor {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) return leaf;
    }
    return capture.input(leaf_type(leaf, at), path.text());
  };
  return map_leaves(argument, symbol, Path(name));
}

/// Numbers that a function returns are tensors.
template <class T>
TensorsOf<T> tensors_in(const T& value) {
  auto keep = [](const auto& leaf, const Path&) { return Tensor(leaf); };
  return map_leaves(value, keep, Path(""));
}

/// Whether `f` can be captured at these arguments. If not, the compiler's first error is the
/// sentence that says why, and callers instantiate nothing else.
template <class F, class... Args>
constexpr bool is_capturable() {
  constexpr bool products = (is_product<Args>() && ...);
  static_assert(products,
                "hom: an argument is not a product of tensors. Pass tensors, numbers, or tuple, "
                "pair, array, vector, map or optional of "
                "such; adapt a struct with BOOST_HANA_DEFINE_STRUCT or BOOST_HANA_ADAPT_STRUCT.");
  if constexpr (products) {
    constexpr bool callable = std::is_invocable_v<const F&, const TensorsOf<Args>&...>;
    static_assert(callable,
                  "hom: the function cannot be called with tensors in place of these arguments. "
                  "Its parameters must be Tensor (or "
                  "auto, or products of tensors) and match the arguments in number.");
    if constexpr (callable) {
      using Result = std::remove_cvref_t<std::invoke_result_t<const F&, const TensorsOf<Args>&...>>;
      static_assert(!std::is_void_v<Result>,
                    "hom: a captured function returns its results; this one returns void.");
      if constexpr (!std::is_void_v<Result>) {
        static_assert(is_product<Result>(),
                      "hom: programs are first-order, so a captured function returns tensors, or a "
                      "product of tensors (tuple, pair, "
                      "array, vector, map, optional, or a struct adapted with Boost.Hana), not a "
                      "function or another type.");
        return is_product<Result>();
      }
    }
  }
  return false;
}

template <class F, class... Args>
auto capture_function(const F& f, const std::string& name, const Location& at,
                      const Args&... args) {
  Capture capture(at);
  const std::vector<std::string> names = argument_names(sizeof...(Args));
  // Braces keep the order: inputs are numbered left to right.
  auto symbols = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<TensorsOf<Args>...>{symbols_like(capture, args, names[I], at)...};
  }(std::index_sequence_for<Args...>());
  auto skeleton = tensors_in(std::apply(f, symbols));
  using Output = decltype(skeleton);
  const std::vector<Tensor> outputs = leaves(skeleton);
  std::vector<Object::Factor> domain;
  (domain.push_back({names[domain.size()], object_of(args, at)}), ...);
  Builder::Signature signature{name, Object::product(std::move(domain)), object_of(skeleton, at)};
  Closure closure = capture.finish(outputs, std::move(signature), at);
  return Captured<Output>{std::move(closure.program), std::move(closure.captured_operands),
                          std::move(skeleton)};
}

/// A program whose last inputs stand for these operands.
struct CapturedProgram {
  const Program& program;
  const std::vector<Tensor>& captured_operands;
};
/// The programs with the captured operands of all as last inputs, in order: those of the first,
/// then of the second …
std::vector<ProgramPtr> with_common_inputs(std::span<const CapturedProgram> programs);
template <class... Outputs>
std::array<ProgramPtr, sizeof...(Outputs)> with_common_inputs(
    const Captured<Outputs>&... captured) {
  const std::array<CapturedProgram, sizeof...(Outputs)> programs{
      CapturedProgram{captured.program, captured.captured_operands}...};
  std::array<ProgramPtr, sizeof...(Outputs)> common;
  const std::vector<ProgramPtr> all =
      with_common_inputs(std::span<const CapturedProgram>(programs));
  std::copy(all.begin(), all.end(), common.begin());
  return common;
}
/// Leaves of the arguments, then the captured operands of all: the inputs of the program of the
/// first.
template <class... Args, class... Outputs>
std::vector<Tensor> common_inputs(const std::tuple<const Args&...>& args,
                                  const Captured<Outputs>&... captured) {
  std::vector<Tensor> inputs;
  const auto append = [&](const std::vector<Tensor>& list) {
    inputs.insert(inputs.end(), list.begin(), list.end());
  };
  std::apply([&](const auto&... arg) { (append(leaves(arg)), ...); }, args);
  (append(captured.captured_operands), ...);
  return inputs;
}

/// Leaves of all arguments, then the captured operands: the inputs of a captured program.
template <class Output, class... Args>
std::vector<Tensor> inputs_of(const Captured<Output>& captured, const Args&... args) {
  std::vector<Tensor> inputs;
  const auto append = [&](const auto& argument) {
    for (Tensor& leaf : leaves(argument)) inputs.push_back(std::move(leaf));
  };
  (append(args), ...);
  inputs.insert(inputs.end(), captured.captured_operands.begin(), captured.captured_operands.end());
  return inputs;
}

template <class F, class... Args>
Program program_of(const F& f, const Location& at, const Args&... args) {
  if constexpr (is_capturable<F, Args...>()) {
    return capture_function(f, "", at, args...).program;
  } else {
    return {};
  }
}

}  // namespace detail

/// Declares `Result name(f, arguments…)` as `read(the program of f at these arguments)`: types, or
/// example values that stand for theirs, in any products. They are overloads for up to eight
/// arguments, since a pack leaves no room for the line of the call, which errors name; further
/// arguments go into a tuple or a struct.
#define HOM_READING(Result, name, read)                                                           \
  template <class F>                                                                              \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const Location& at = Location::current()) {                             \
    return read(detail::program_of(f, at));                                                       \
  }                                                                                               \
  template <class F, class A>                                                                     \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const A& a, const Location& at = Location::current()) {                 \
    return read(detail::program_of(f, at, a));                                                    \
  }                                                                                               \
  template <class F, class A, class B>                                                            \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const A& a, const B& b, const Location& at = Location::current()) {     \
    return read(detail::program_of(f, at, a, b));                                                 \
  }                                                                                               \
  template <class F, class A, class B, class C>                                                   \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const A& a, const B& b, const C& c,                                     \
              const Location& at = Location::current()) {                                         \
    return read(detail::program_of(f, at, a, b, c));                                              \
  }                                                                                               \
  template <class F, class A, class B, class C, class D>                                          \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const A& a, const B& b, const C& c, const D& d,                         \
              const Location& at = Location::current()) {                                         \
    return read(detail::program_of(f, at, a, b, c, d));                                           \
  }                                                                                               \
  template <class F, class A, class B, class C, class D, class E>                                 \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const A& a, const B& b, const C& c, const D& d, const E& e,             \
              const Location& at = Location::current()) {                                         \
    return read(detail::program_of(f, at, a, b, c, d, e));                                        \
  }                                                                                               \
  template <class F, class A, class B, class C, class D, class E, class G>                        \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const A& a, const B& b, const C& c, const D& d, const E& e, const G& g, \
              const Location& at = Location::current()) {                                         \
    return read(detail::program_of(f, at, a, b, c, d, e, g));                                     \
  }                                                                                               \
  template <class F, class A, class B, class C, class D, class E, class G, class H>               \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const A& a, const B& b, const C& c, const D& d, const E& e, const G& g, \
              const H& h, const Location& at = Location::current()) {                             \
    return read(detail::program_of(f, at, a, b, c, d, e, g, h));                                  \
  }                                                                                               \
  template <class F, class A, class B, class C, class D, class E, class G, class H, class I>      \
    requires(!std::derived_from<F, Program>)                                                      \
  Result name(const F& f, const A& a, const B& b, const C& c, const D& d, const E& e, const G& g, \
              const H& h, const I& i, const Location& at = Location::current()) {                 \
    return read(detail::program_of(f, at, a, b, c, d, e, g, h, i));                               \
  }

/// The program of `f` at these arguments. What `f` uses of an enclosing capture becomes further
/// inputs.
HOM_READING(Program, program, )

/// A function object that carries a name: errors inside say "in `name`", and in a program it is one
/// `call` step, drawn as a box. On concrete tensors it just runs.
template <class F>
class Named {
 public:
  Named(std::string name, F f, const Location& at)
      : name_(std::move(name)), f_(std::move(f)), at_(at) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (detail::is_capturable<F, Args...>()) {
      const NameScope scope(name_);
      using Output = decltype(detail::tensors_in(f_(detail::tensors_in(args)...)));
      if (!Capture::current()) return Output(detail::tensors_in(f_(detail::tensors_in(args)...)));
      auto captured = detail::capture_function(f_, name_, at_, args...);
      const std::vector<Tensor> inputs = detail::inputs_of(captured, args...);
      static const Primitive& call = standard_primitives().find("call");
      const TensorList results =
          apply(call, {{"program", {std::make_shared<const Program>(std::move(captured.program))}}},
                inputs, at_);
      return Output(with_leaves(captured.skeleton, {results.data(), results.size()}));
    }
  }

 private:
  std::string name_;
  F f_;
  Location at_;
};

/// `f` under a name: `named("forward", f)`.
template <class F>
Named<F> named(std::string name, F f, const Location& at = Location::current()) {
  return {std::move(name), std::move(f), at};
}

/// then(operands…) where the predicate (bool[]) holds, otherwise(operands…) elsewhere; only the
/// branch taken runs. Both return the same structure and types. What the branches capture becomes
/// operands by itself.
template <class Then, class Otherwise, class... Args>
auto cond(const Operand& predicate, const Then& then, const Otherwise& otherwise,
          const Args&... operands) {
  if constexpr (detail::is_capturable<Then, Args...>() &&
                detail::is_capturable<Otherwise, Args...>()) {
    using Output = decltype(detail::tensors_in(then(detail::tensors_in(operands)...)));
    constexpr bool agree =
        std::same_as<Output,
                     decltype(detail::tensors_in(otherwise(detail::tensors_in(operands)...)))>;
    static_assert(agree, "hom: both branches of cond return the same C++ type.");
    if constexpr (agree) {
      const Location& at = predicate.at();
      if (!predicate.is_weak() && predicate.tensor().is_concrete() && !Capture::current()) {
        const TensorType type = predicate.tensor().type();
        require(type == bool_[{}], at, [&] {
          return Complaint{"cond: the predicate is " + to_string(type) + ", not bool[]",
                           "where(condition, a, b) chooses element by element"};
        });
        return predicate.tensor().item<bool>()
                   ? Output(detail::tensors_in(then(detail::tensors_in(operands)...)))
                   : Output(detail::tensors_in(otherwise(detail::tensors_in(operands)...)));
      }
      auto first = detail::capture_function(then, "then", at, operands...);
      auto second = detail::capture_function(otherwise, "otherwise", at, operands...);
      detail::require_same_structure(detail::all_leaves(first.skeleton).second,
                                     detail::all_leaves(second.skeleton).second, at);
      std::vector<Tensor> inputs = detail::common_inputs(std::tie(operands...), first, second);
      inputs.insert(inputs.begin(), predicate.value());
      const auto [then_program, otherwise_program] = detail::with_common_inputs(first, second);
      static const Primitive& p = standard_primitives().find("cond");
      const TensorList results =
          apply(p, {{"then", {then_program}}, {"otherwise", {otherwise_program}}}, inputs, at);
      return Output(
          with_leaves(first.skeleton, std::span<const Tensor>(results.data(), results.size())));
    }
  }
}

}  // namespace hom
