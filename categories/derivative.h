// categories/derivative.h -- derivatives of functions at a point: grad, value_and_grad, jvp
//
// All derivatives take a function object and give a function object of the same arguments, so they
// nest to any order. They differentiate the first argument unless `wrt` says otherwise; a gradient
// has the structure of the argument, and the leaf of an integer or bool tensor in it is empty (the
// unit). linear_map.h has linearize, vjp and transpose, jacobian.h jacobian, hessian and hvp.
#pragma once

#include <hom/categories/linearize.h>
#include <hom/core/function.h>

namespace hom {

namespace detail {
template <std::size_t... Is>
constexpr bool ascending() {
  std::size_t next = 0;
  return ((Is >= std::exchange(next, Is + 1)) && ...);
}
}  // namespace detail

/// The arguments to differentiate in, counted from 0 and ascending: `wrt<0, 1>`.
template <std::size_t... Is>
struct Wrt {};
template <std::size_t... Is>
inline constexpr Wrt<Is...> wrt{};

/// x… ↦ value, gradients of the active float inputs. The program has one output, a float of rank 0.
/// Throws otherwise.
Program value_and_gradient(const Program& program, const std::vector<bool>& active,
                           const Location& at);
/// x…, dx… ↦ y…, dy… with one dx for each active float input and one dy (perhaps zero) for each
/// float output.
Program pushforward(const Program& program, const std::vector<bool>& active);

namespace detail {

/// Whether f can be captured at these arguments and wrt names some of them; the first error says
/// what is wrong.
template <class F, std::size_t... Is, class... Args>
constexpr bool is_differentiable(Wrt<Is...>, const std::tuple<Args...>*) {
  static_assert(sizeof...(Is) > 0, "hom: wrt names at least one argument, as in wrt<0>.");
  static_assert(ascending<Is...>(), "hom: wrt names arguments in ascending order, each once.");
  static_assert(((Is < sizeof...(Args)) && ...),
                "hom: wrt names an argument that the function does not have.");
  if constexpr (sizeof...(Is) > 0 && ascending<Is...>() && ((Is < sizeof...(Args)) && ...)) {
    return is_capturable<F, Args...>();
  } else {
    return false;
  }
}
template <class F, class W, class... Args>
inline constexpr bool differentiable =
    is_differentiable<F>(W{}, static_cast<const std::tuple<Args...>*>(nullptr));

template <std::size_t... Is, class... Args>
std::vector<bool> active_inputs(Wrt<Is...>, std::size_t captured, const Args&... args) {
  std::vector<bool> active;
  std::size_t index = 0;
  const auto mark = [&](const auto& argument) {
    const bool varies = ((index == Is) || ...);
    active.insert(active.end(), leaf_paths(argument).size(), varies);
    ++index;
  };
  (mark(args), ...);
  active.insert(active.end(), captured, false);
  return active;
}

/// The arguments named by wrt: one as itself, several as a tuple.
template <std::size_t I, class... Args>
decltype(auto) selected(Wrt<I>, const Args&... args) {
  return std::get<I>(std::forward_as_tuple(args...));
}
template <std::size_t I, std::size_t J, std::size_t... Is, class... Args>
auto selected(Wrt<I, J, Is...>, const Args&... args) {
  const auto all = std::forward_as_tuple(args...);
  return std::tuple{std::get<I>(all), std::get<J>(all), std::get<Is>(all)...};
}

void require_some_float(bool any, const std::vector<std::string>& types, const Location& at);

/// The structure of a gradient: that of the arguments, with float leaves filled in order and the
/// others empty.
template <class T>
TensorsOf<T> gradient_like(const T& arguments, std::span<const Tensor> gradients) {
  std::size_t next = 0;
  auto fill = [&](const auto& leaf, const Path&) -> Tensor {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) return leaf;
    }
    return leaf_type(leaf, Location::current()).dtype.is_float() ? gradients[next++] : Tensor();
  };
  return map_leaves(arguments, fill, Path(""));
}

template <class T>
void require_float_leaves(const T& arguments, const Location& at) {
  bool any = false;
  std::vector<std::string> types;
  auto look = [&](const auto& leaf, const Path& path) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) return;
    }
    const TensorType type = leaf_type(leaf, at);
    any = any || type.dtype.is_float();
    types.push_back(path.text() + ": " + to_string(type));
  };
  for_each_leaf(arguments, look, Path("argument"));
  require_some_float(any, types, at);
}

template <class Primal, class T>
inline constexpr bool same_structure =
    std::same_as<typename WithTensors<Primal>::type, typename WithTensors<T>::type>;

/// The arguments' structure with one result for each leaf; that of an integer or bool is dropped.
template <class T>
TensorsOf<T> cotangents_like(const T& arguments, std::span<const Tensor> results) {
  std::vector<Tensor> floats;
  for (const Tensor& result : results) {
    if (result.type().dtype.is_float()) floats.push_back(result);
  }
  return gradient_like(arguments, floats);
}

/// Appends the cotangents of outputs of these types; throws where their number or types differ.
void append_cotangents(std::vector<Tensor>& inputs, const std::vector<TensorType>& types,
                       const std::vector<Tensor>& cotangents, const Location& at);

/// One tangent or cotangent brought to the type it must have; throws where it cannot be.
Tensor matched(const char* what, const Operand& given, const TensorType& type,
               const std::string& path, const Location& at);

/// Leaves of a tangent or cotangent product in the dtypes and shapes of the leaves it belongs to;
/// numbers adopt the dtype. Where the primal leaf is not a float the leaf is ignored, and an empty
/// one is zero. Errors say what it is, and start paths with `root`.
template <class Primal, class T>
std::vector<Tensor> matching_leaves(const char* what, const Primal& primal, const T& given,
                                    const Location& at, const char* root = nullptr) {
  if (!root) root = what;
  static_assert(same_structure<Primal, T>,
                "hom: a tangent or cotangent has the structure of the value it belongs to.");
  std::vector<TensorType> types;
  std::vector<std::string> paths;
  std::vector<bool> skipped;
  auto read = [&](const auto& leaf, const Path& path) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) {
        skipped.push_back(true);
        types.emplace_back();
        paths.push_back(path.text());
        return;
      }
    }
    types.push_back(leaf_type(leaf, at));
    skipped.push_back(!types.back().dtype.is_float());
    paths.push_back(path.text());
  };
  for_each_leaf(primal, read, Path(root));
  std::vector<Tensor> result;
  std::vector<std::string> given_paths;
  std::size_t next = 0;
  auto match = [&](const auto& leaf, const Path& path) {
    const std::size_t i = next++;
    given_paths.push_back(path.text());
    if (i < types.size() && !skipped[i])
      result.push_back(matched(what, Operand(leaf, at), types[i], path.text(), at));
  };
  for_each_leaf(given, match, Path(root));
  require_same_structure(paths, given_paths, at);
  return result;
}

}  // namespace detail

/// x… ↦ (f(x…), ∇f): see `value_and_grad`.
template <class F, class W>
class ValueAndGrad {
 public:
  ValueAndGrad(F f, const Location& at) : f_(std::move(f)), at_(at) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (detail::differentiable<F, W, Args...>) {
      const auto& chosen = detail::selected(W{}, args...);
      detail::require_float_leaves(chosen, at_);
      const auto captured = detail::capture_function(f_, "", at_, args...);
      const std::vector<bool> active =
          detail::active_inputs(W{}, captured.captured_operands.size(), args...);
      const Program both = value_and_gradient(captured.program, active, at_);
      const std::vector<Tensor> results = apply(both, detail::inputs_of(captured, args...), at_);
      return std::pair{results[0], detail::gradient_like(chosen, std::span(results).subspan(1))};
    }
  }

 private:
  F f_;
  Location at_;
};

/// The function that computes f and its gradient, by reverse mode. f returns one float of rank 0.
template <class F, std::size_t... Is>
auto value_and_grad(F f, Wrt<Is...>, const Location& at = Location::current()) {
  return ValueAndGrad<F, Wrt<Is...>>(std::move(f), at);
}
template <class F>
auto value_and_grad(F f, const Location& at = Location::current()) {
  return ValueAndGrad<F, Wrt<0>>(std::move(f), at);
}

/// The gradient of f, by reverse mode. f returns one float of rank 0.
template <class F, std::size_t... Is>
auto grad(F f, Wrt<Is...> in, const Location& at = Location::current()) {
  return [both = value_and_grad(std::move(f), in, at)](const auto&... args) {
    if constexpr (detail::differentiable<F, Wrt<Is...>, std::remove_cvref_t<decltype(args)>...>)
      return both(args...).second;
  };
}
template <class F>
auto grad(F f, const Location& at = Location::current()) {
  return grad(std::move(f), wrt<0>, at);
}

/// (x…, dx…) ↦ (f(x…), its directional derivative), by forward mode: all arguments of f, then one
/// tangent for each argument of `wrt`, with that argument's structure.
template <class F, class W>
class Jvp;
template <class F, std::size_t... Is>
class Jvp<F, Wrt<Is...>> {
 public:
  Jvp(F f, const Location& at) : f_(std::move(f)), at_(at) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    constexpr std::size_t tangent_count = sizeof...(Is);
    constexpr bool has_tangents = sizeof...(Args) > tangent_count;
    static_assert(
        has_tangents,
        "hom: jvp(f) takes the arguments of f, then one tangent for each argument of wrt.");
    if constexpr (has_tangents) {
      constexpr std::size_t count = sizeof...(Args) - tangent_count;
      const auto all = std::forward_as_tuple(args...);
      return [&]<std::size_t... P, std::size_t... T>(std::index_sequence<P...>,
                                                     std::index_sequence<T...>) {
        using All = std::tuple<Args...>;
        if constexpr (detail::differentiable<F, Wrt<Is...>, std::tuple_element_t<P, All>...>) {
          constexpr bool matching = (detail::same_structure<std::tuple_element_t<Is, All>,
                                                            std::tuple_element_t<count + T, All>> &&
                                     ...);
          static_assert(
              matching,
              "hom: a tangent or cotangent has the structure of the value it belongs to.");
          if constexpr (matching)
            return run(std::forward_as_tuple(std::get<count + T>(all)...), std::get<P>(all)...);
        }
      }(std::make_index_sequence<count>(), std::make_index_sequence<tangent_count>());
    }
  }

 private:
  template <class Tangents, class... Args>
  auto run(const Tangents& tangents, const Args&... args) const {
    const auto captured = detail::capture_function(f_, "", at_, args...);
    const auto chosen = std::forward_as_tuple(detail::selected(Wrt<Is>{}, args...)...);
    const std::vector<bool> active =
        detail::active_inputs(Wrt<Is...>{}, captured.captured_operands.size(), args...);
    const Program both = pushforward(captured.program, active);
    std::vector<Tensor> inputs = detail::inputs_of(captured, args...);
    const auto append = [&](const std::vector<Tensor>& list) {
      inputs.insert(inputs.end(), list.begin(), list.end());
    };
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (append(detail::matching_leaves("tangent", std::get<K>(chosen), std::get<K>(tangents), at_)),
       ...);
    }(std::make_index_sequence<sizeof...(Is)>());
    const std::vector<Tensor> results = apply(both, inputs, at_);
    const std::size_t outputs = captured.program.outputs().size();
    auto value = with_leaves(captured.skeleton, std::span(results).first(outputs));
    auto tangent = detail::gradient_like(value, std::span(results).subspan(outputs));
    return std::pair{std::move(value), std::move(tangent)};
  }

  F f_;
  Location at_;
};
template <class F, std::size_t... Is>
auto jvp(F f, Wrt<Is...>, const Location& at = Location::current()) {
  return Jvp<F, Wrt<Is...>>(std::move(f), at);
}
template <class F>
auto jvp(F f, const Location& at = Location::current()) {
  return jvp(std::move(f), wrt<0>, at);
}

}  // namespace hom
