// categories/vmap.h -- vmap: a function of one example as a function of a batch of them
//
// vmap(f) takes arguments with one axis more, that of the lanes, and gives what a loop over the
// lanes would, stacked; but each step runs once, for all lanes. Like the derivatives it is a
// function object of the same arguments, so that vmap, grad, jacobian and the others nest in any
// order.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <vector>

#include <hom/categories/batch.h>
#include <hom/core/function.h>

namespace hom {

/// In place of an axis: the leaf, or the whole argument, is the same for all lanes.
struct Unmapped {};
inline constexpr Unmapped unmapped{};

/// The axis of one leaf along which the lanes lie, counted from the end where negative; or none.
struct LaneAxis {
  std::optional<std::int64_t> axis;

  template <std::integral I>
  LaneAxis(I position)  // NOLINT(google-explicit-constructor)
      : axis(static_cast<std::int64_t>(position)) {}
  LaneAxis(Unmapped) {}  // NOLINT(google-explicit-constructor)
};

/// The same for one argument: of every leaf, or one entry for each, in the order of `leaf_paths`.
struct ArgumentAxes {
  std::vector<LaneAxis> entries;
  bool is_list = true;

  template <std::integral I>
  ArgumentAxes(I position)  // NOLINT(google-explicit-constructor)
      : entries{position}, is_list(false) {}
  ArgumentAxes(Unmapped) : entries{unmapped}, is_list(false) {}  // NOLINT
  ArgumentAxes(std::initializer_list<LaneAxis> leaves) : entries(leaves) {}
  ArgumentAxes(std::vector<LaneAxis> leaves) : entries(std::move(leaves)) {}  // NOLINT
};

/// Where the lanes of arguments are: one axis for every leaf of all of them, or an entry for each
/// argument, as in `{0, unmapped, {1, unmapped}}`.
struct InAxes {
  std::vector<ArgumentAxes> entries;
  bool is_list = true;

  template <std::integral I>
  InAxes(I position)  // NOLINT(google-explicit-constructor)
      : entries{ArgumentAxes(position)}, is_list(false) {}
  InAxes(std::initializer_list<ArgumentAxes> arguments) : entries(arguments) {}
  InAxes(std::vector<ArgumentAxes> arguments) : entries(std::move(arguments)) {}  // NOLINT
};

/// Where the lanes of results go: one axis for all leaves of the result, or one for each.
struct OutAxes {
  Shape entries;
  bool is_list = true;

  template <std::integral I>
  OutAxes(I position)  // NOLINT(google-explicit-constructor)
      : entries{static_cast<std::int64_t>(position)}, is_list(false) {}
  OutAxes(std::initializer_list<std::int64_t> leaves) : entries(leaves) {}
  OutAxes(Shape leaves) : entries(std::move(leaves)) {}  // NOLINT
};

/// Where the lanes lie in each of several tensors, and how many there are.
struct Lanes {
  /// Not negative; nothing for what is the same for all lanes.
  std::vector<std::optional<std::int64_t>> axes;
  std::int64_t size = 0;
};

/// The program for one lane as a program for all: inputs have the lanes along `in`, and every
/// output along `out`; what does not depend on the lanes is repeated. Of no lanes, nothing runs.
/// Throws where `out` does not fit the outputs.
Program vmap(const Program& program, const Lanes& in, const OutAxes& out, const Location& at);

namespace detail {

/// The lanes of the leaves of all arguments, whose paths are listed by argument. Throws where axes
/// do not fit leaves, extents differ, or nothing is mapped.
Lanes lanes_of(const InAxes& axes, const std::vector<std::vector<std::string>>& paths,
               const std::vector<TensorType>& types, const Location& at);

}  // namespace detail

/// x… ↦ f of each lane, stacked: see `vmap`.
template <class F>
class Vmap {
 public:
  Vmap(F f, InAxes in, OutAxes out, const Location& at)
      : f_(std::move(f)), in_(std::move(in)), out_(std::move(out)), at_(at) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (detail::is_capturable<F, Args...>()) {
      const std::vector<std::string> names = detail::argument_names(sizeof...(Args));
      std::vector<std::vector<std::string>> paths;
      std::vector<TensorType> types;
      const auto read = [&](const auto& argument) {
        paths.push_back(leaf_paths(argument, names[paths.size()]));
        for (const Tensor& leaf : leaves(argument)) types.push_back(leaf.type(at_));
      };
      (read(args), ...);
      Lanes lanes = detail::lanes_of(in_, paths, types, at_);

      std::size_t next = 0;
      auto one_lane = [&](const auto& leaf, const Path&) -> Tensor {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
          if (leaf.is_empty()) return leaf;
        }
        TensorType type = types[next];
        if (const auto axis = lanes.axes[next++]) type.shape.erase(type.shape.begin() + *axis);
        return detail::stand_in(type);
      };
      // Braces keep the order.
      const std::tuple<TensorsOf<Args>...> lane{detail::map_leaves(args, one_lane, Path(""))...};
      const auto captured = std::apply(
          [&](const auto&... stand_ins) {
            return detail::capture_function(f_, "", at_, stand_ins...);
          },
          lane);
      lanes.axes.resize(captured.program.inputs().size());
      const std::vector<Tensor> results = apply(vmap(captured.program, lanes, out_, at_),
                                                detail::inputs_of(captured, args...), at_);
      return with_leaves(captured.skeleton, results);
    }
  }

 private:
  F f_;
  InAxes in_;
  OutAxes out_;
  Location at_;
};

/// f for a batch: by default along axis 0 of every leaf of every argument and result.
///
///     vmap(f)                          // all arguments
///     vmap(f, {0, unmapped})           // the second is the same for all lanes
///     vmap(f, {{0, unmapped}, 1}, 1)   // leaf by leaf of the first; the result's lanes are axis 1
///
/// Throws, when called: extents that differ, axes that a leaf does not have, as many entries as
/// there are no arguments or leaves, and nothing mapped at all.
template <class F>
  requires(!std::derived_from<F, Program>)
auto vmap(F f, InAxes in = 0, OutAxes out = 0, const Location& at = Location::current()) {
  return Vmap<F>(std::move(f), std::move(in), std::move(out), at);
}

}  // namespace hom
