// categories/sparsity.h -- the category of sparsity patterns: which inputs each result depends on
//
//     auto f = [](Tensor x) { return x(Range{1}) - x(Range{0, -1}); };
//     std::cout << sparsity(f)(f64[{4}]);
//
// An object is a list of tensors each of whose elements has a set of numbers, those of the inputs
// that it may depend on; an arrow takes such sets to such sets, and composition is that of
// functions. Dependence is that of derivatives: what has slope zero (sign, floor, comparisons,
// integers) drops it, and so does a product with a zero that is known. Values that are the same for
// all inputs are known and carried along, so that what is read or written at known positions is
// exact; what is read at unknown ones depends on everything that may be there. Sets only grow: a
// pattern has every entry that is ever different from zero, and perhaps others.
//
// The pattern of a derivative (`sparsity(f)`) is how dy depends on dx in the program (x, dx) ↦ (y,
// dy), so derivatives that are given, such as those of custom_jvp, count and not the function.
//
// A. Griewank and A. Walther, "Evaluating Derivatives" (2008), section 7.1, where patterns are
// propagated at run time; C. Elliott, "Compiling to Categories" (2017), for the reading.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hom/categories/derivative.h>
#include <hom/categories/index_sets.h>
#include <hom/categories/interpret.h>
#include <hom/categories/sparsity_pattern.h>

namespace hom {

/// How the float outputs of a program depend on its active float inputs: a row for each element of
/// the outputs and a column for each of the inputs, in order, row-major. `known` has for each input
/// its value, which then counts, or an empty tensor. Throws for outputs that are not floats, and
/// for 2³¹ columns and more.
SparsityPattern sparsity(const Program& program, const std::vector<bool>& active,
                         const std::vector<Tensor>& known, const Location& at);

namespace categories {

/// A tensor of sets.
struct Dependences {
  TensorType type = {};
  /// u32 of the same shape, the id of each element's set; empty where none depends on anything.
  Tensor sets = {};
  /// The value, where it is the same for all inputs.
  Tensor known = {};
};

/// The sets of the results of a step, at least one of whose operands has sets: a function that
/// returns u32 of the result's shape, or an empty tensor where it depends on nothing; or a vector
/// of such where there are more results than one. What it says of results that are not floats does
/// not count.
class SparsityRule {
 public:
  SparsityRule() = default;
  template <std::invocable<IndexSets&, const Operation&, std::span<const Dependences>> F>
  SparsityRule(F f) {  // NOLINT(google-explicit-constructor)
    using Result =
        std::invoke_result_t<F, IndexSets&, const Operation&, std::span<const Dependences>>;
    if constexpr (std::convertible_to<Result, std::vector<Tensor>>) {
      function_ = std::move(f);
    } else {
      function_ = [f = std::move(f)](IndexSets& sets, const Operation& step,
                                     std::span<const Dependences> x) {
        return std::vector<Tensor>{f(sets, step, x)};
      };
    }
  }

  std::vector<Tensor> operator()(IndexSets& sets, const Operation& step,
                                 std::span<const Dependences> x) const {
    return function_(sets, step, x);
  }

 private:
  std::function<std::vector<Tensor>(IndexSets&, const Operation&, std::span<const Dependences>)>
      function_;
};
using SparsityRules = std::map<std::string, SparsityRule, std::less<>>;

/// The rules in force, by the name of the primitive: Hom's own on first use. A primitive without
/// one depends, in each element of a result, on all elements of all operands. A user adds a rule
/// for a primitive of his own, and assigns a former copy to take it out.
SparsityRules& sparsity_rules();

/// Rules that many primitives share: element by element; moved as the primitive moves numbers; no
/// dependence.
Tensor elementwise_sparsity(IndexSets& sets, const Operation& step, std::span<const Dependences> x);
Tensor moved_sparsity(IndexSets& sets, const Operation& step, std::span<const Dependences> x);
Tensor no_sparsity(IndexSets& sets, const Operation& step, std::span<const Dependences> x);

/// The algebra of sparsity patterns, for `interpret`; `Functions<Sparsity>` is the category. Copies
/// share one table of sets.
struct Sparsity {
  using Value = Dependences;

  std::shared_ptr<IndexSets> sets = std::make_shared<IndexSets>();

  /// A tensor each of whose elements is an input, numbered from `first` in row-major order.
  Dependences inputs(const TensorType& type, std::uint64_t first) const;

  std::string name() const { return "sparsity patterns"; }
  /// Every primitive has a rule, if only that anything may depend on anything.
  std::string lacks(const Primitive&) const { return ""; }
  std::vector<Dependences> primitive(const Operation& operation,
                                     std::span<const Dependences> x) const;
  std::optional<bool> decide(const Dependences& predicate) const;
  Dependences merge(const Dependences& a, const Dependences& b) const;
  /// For loops that are not decided: merging values only adds to them, so it ends.
  bool same(const Dependences& a, const Dependences& b) const;
};

}  // namespace categories

namespace detail {

/// For each leaf of an argument: its value, of a concrete integer or bool; else an empty tensor.
template <class T>
void append_known(std::vector<Tensor>& known, const T& argument) {
  auto look = [&](const auto& leaf, const Path&) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (std::same_as<Leaf, Tensor>) {
      if (leaf.is_empty()) return;
      known.push_back(leaf.is_concrete() && !leaf.dtype().is_float() ? leaf : Tensor());
    } else if constexpr (std::same_as<Leaf, TensorType> || std::floating_point<Leaf>) {
      known.push_back({});
    } else {
      known.push_back(Tensor(leaf));
    }
  };
  for_each_leaf(argument, look, Path(""));
}

}  // namespace detail

/// x… ↦ the pattern of the Jacobian of f in the arguments of `wrt`: a row for each element of the
/// leaves of the result, a column for each element of the float leaves of these arguments, in the
/// order of leaves and row-major. Arguments are types or example values; the values of integers and
/// bools count, those of floats do not.
template <class F, std::size_t... Is>
  requires(!std::same_as<F, Program>)
auto sparsity(F f, Wrt<Is...> in, const Location& at = Location::current()) {
  return [f = std::move(f), in, at](const auto&... args) {
    if constexpr (detail::differentiable<F, Wrt<Is...>, std::remove_cvref_t<decltype(args)>...>) {
      const auto captured = detail::capture_function(f, "", at, args...);
      std::vector<Tensor> known;
      (detail::append_known(known, args), ...);
      known.resize(captured.program.inputs().size());
      return sparsity(captured.program,
                      detail::active_inputs(in, captured.captured_operands.size(), args...), known,
                      at);
    }
  };
}
template <class F>
  requires(!std::same_as<F, Program>)
auto sparsity(F f, const Location& at = Location::current()) {
  return sparsity(std::move(f), wrt<0>, at);
}

}  // namespace hom
