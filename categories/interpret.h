// categories/interpret.h -- the light driver: categories whose arrows are functions on values of
// some kind
//
// Where an arrow is a function on values (arrays, intervals, signs, sparsity patterns), only the
// value and the action of each primitive are to be said. An *algebra* is
//
//     name()                                   "intervals"
//     Value                                    what a slot holds
//     primitive(operation, values)             results of one step
//     lacks(primitive)                         why it has no action for a primitive, or empty
//     decide(predicate), merge(a, b)           for `cond`, where it has that
//     same(a, b)                               for loops of any length, where merging ends
//
// `interpret` walks the steps once, in order, with one value for each slot, and drops each after
// its last use. `Functions<Algebra>` is the category that belongs to it, with functions on lists of
// values as arrows and composition of functions as composition; its laws hold by construction, and
// that both drivers agree is a law as well (`interpret_equals_read`). It is the Kleisli
// construction without the monad.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <hom/categories/read.h>

namespace hom::categories {

template <class A>
concept Algebra = requires(const A& algebra, const Operation& operation,
                           std::span<const typename A::Value> values, const Primitive& primitive) {
  { algebra.name() } -> std::convertible_to<std::string>;
  { algebra.primitive(operation, values) } -> std::same_as<std::vector<typename A::Value>>;
  { algebra.lacks(primitive) } -> std::convertible_to<std::string>;
};

/// One that reads `cond`: the branch that a predicate chooses, or nothing where both may run; then
/// their results are merged.
template <class A>
concept BranchingAlgebra =
    Algebra<A> && requires(const A& algebra, const typename A::Value& value) {
      { algebra.decide(value) } -> std::same_as<std::optional<bool>>;
      { algebra.merge(value, value) } -> std::same_as<typename A::Value>;
    };

/// One whose values only grow when they are merged, and not for ever: `same` tells when they no
/// longer do. Its loops need no condition that is decided.
template <class A>
concept GrowingAlgebra =
    BranchingAlgebra<A> && requires(const A& algebra, const typename A::Value& value) {
      { algebra.same(value, value) } -> std::same_as<bool>;
    };

template <Algebra A>
using Values = std::vector<typename A::Value>;

/// Results of a program for given values of its inputs. Throws `Error` at the line of a step that
/// the algebra lacks.
template <Algebra A>
Values<A> interpret(const A& algebra, const Program& program, Values<A> inputs);

/// Runs the branch that the predicate chooses, or both.
template <BranchingAlgebra A, class Then, class Otherwise>
Values<A> branch(const A& algebra, const typename A::Value& predicate, const Then& then,
                 const Otherwise& otherwise) {
  const std::optional<bool> decided = algebra.decide(predicate);
  if (decided) return *decided ? then() : otherwise();
  Values<A> merged;
  const Values<A> a = then();
  const Values<A> b = otherwise();
  for (std::size_t k = 0; k < a.size(); ++k) merged.push_back(algebra.merge(a[k], b[k]));
  return merged;
}

/// Values of the carries that hold after any number of iterations: merged until they stay.
template <GrowingAlgebra A>
Values<A> any_iterations(const A& algebra, const Program& body, Values<A> values) {
  for (bool grown = true; grown;) {
    grown = false;
    const Values<A> next = interpret(algebra, body, values);
    for (std::size_t k = 0; k < next.size(); ++k) {
      typename A::Value merged = algebra.merge(values[k], next[k]);
      grown = grown || !algebra.same(merged, values[k]);
      values[k] = std::move(merged);
    }
  }
  return values;
}

/// Runs a loop as long as its condition is decided. Where it is not, both going on and stopping are
/// merged: for any number of iterations where the algebra can, else for those that the bound
/// leaves; without a bound that is an `Error`.
template <BranchingAlgebra A>
Values<A> iterate(const A& algebra, const Operation& operation, Values<A> values) {
  const Program& condition = *operation.attributes.program("condition");
  const Program& body = *operation.attributes.program("body");
  const std::int64_t bound = operation.attributes.integer("bound");
  for (std::int64_t n = 0; n != bound; ++n) {
    const std::optional<bool> goes_on = algebra.decide(interpret(algebra, condition, values)[0]);
    if (!goes_on) {
      if constexpr (GrowingAlgebra<A>) {
        values = any_iterations(algebra, body, std::move(values));
        break;
      } else {
        if (bound < 0)
          fail_operation(algebra.name(), operation,
                         "without a bound, its condition has to be decided by the values");
        Operation rest = operation;
        rest.attributes.set("bound", {bound - n});
        return interpret(algebra, *decomposition(rest), values);
      }
    }
    if (!*goes_on) break;
    Values<A> next = interpret(algebra, body, values);
    std::move(next.begin(), next.end(), values.begin());
  }
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(operation.results.size()),
               values.end());
  return values;
}

/// Results of one step.
template <Algebra A>
Values<A> interpret_step(const A& algebra, const Operation& operation, const Values<A>& operands) {
  if (operation.is("barrier")) return operands;
  if constexpr (BranchingAlgebra<A>) {
    if (operation.is("while")) return iterate(algebra, operation, operands);
  }
  if (const ProgramPtr program = decomposition(operation))
    return interpret(algebra, *program, operands);
  if (const std::string reason = algebra.lacks(*operation.primitive); !reason.empty())
    fail_operation(algebra.name(), operation, reason);
  if constexpr (BranchingAlgebra<A>) {
    if (operation.is("cond")) {
      const Values<A> arguments(operands.begin() + 1, operands.end());
      const auto run = [&](const char* name) {
        return interpret(algebra, *operation.attributes.program(name), arguments);
      };
      return branch(
          algebra, operands[0], [&] { return run("then"); }, [&] { return run("otherwise"); });
    }
  }
  return algebra.primitive(operation, operands);
}

template <Algebra A>
Values<A> interpret(const A& algebra, const Program& program, Values<A> inputs) {
  ensure(inputs.size() == program.inputs().size(), "interpret: one value for each input");
  const std::vector<std::size_t> last_use = last_uses(program);
  std::vector<std::optional<typename A::Value>> slots(program.slot_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[program.inputs()[i]] = std::move(inputs[i]);
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    Values<A> operands;
    for (Slot slot : step.operands) operands.push_back(*slots[slot]);
    for (Slot slot : step.operands) {
      if (last_use[slot] == i) slots[slot].reset();
    }
    Values<A> results = interpret_step(algebra, operation_of(program, step), operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      slots[step.first_result + r] = std::move(results[r]);
  }
  Values<A> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(*slots[slot]);
  return outputs;
}

/// The category of an algebra: functions on lists of values.
template <Algebra A>
struct Functions {
  A algebra = {};

  struct Arrow {
    Environment domain;
    Environment codomain;
    std::function<Values<A>(const Values<A>&)> function;

    Values<A> operator()(const Values<A>& x) const { return function(x); }
  };

  std::string name() const { return algebra.name(); }
  std::string lacks(const Primitive& primitive) const { return algebra.lacks(primitive); }
  const Environment& domain(const Arrow& f) const { return f.domain; }
  const Environment& codomain(const Arrow& f) const { return f.codomain; }

  Arrow id(const Environment& a) const {
    return {a, a, [](const Values<A>& x) { return x; }};
  }
  Arrow compose(const Arrow& g, const Arrow& f) const {
    ensure(f.codomain == g.domain, "compose: the codomain of f is the domain of g");
    return {f.domain, g.codomain,
            [f = f.function, g = g.function](const Values<A>& x) { return g(f(x)); }};
  }
  Arrow fork(const Arrow& f, const Arrow& g) const {
    ensure(f.domain == g.domain, "fork: f and g have one domain");
    return {f.domain, product(f.codomain, g.codomain),
            [f = f.function, g = g.function](const Values<A>& x) {
              Values<A> both = f(x);
              Values<A> second = g(x);
              for (auto& value : second) both.push_back(std::move(value));
              return both;
            }};
  }
  Arrow project(const Environment& a, const Positions& positions) const {
    return {a, factors(a, positions), [positions](const Values<A>& x) {
              Values<A> list;
              for (std::size_t position : positions) list.push_back(x[position]);
              return list;
            }};
  }
  Arrow primitive(const Operation& operation) const {
    return {operation.domain(), operation.codomain(),
            [algebra = algebra, operation](const Values<A>& x) {
              return algebra.primitive(operation, x);
            }};
  }
  Arrow cond(const Arrow& then, const Arrow& otherwise) const
    requires BranchingAlgebra<A>
  {
    return {product({bool_[{}]}, then.domain), then.codomain,
            [algebra = algebra, then = then.function,
             otherwise = otherwise.function](const Values<A>& x) {
              const Values<A> arguments(x.begin() + 1, x.end());
              return branch(
                  algebra, x[0], [&] { return then(arguments); },
                  [&] { return otherwise(arguments); });
            }};
  }
};

/// The algebra of arrays: `Functions<Arrays>` is the category of functions that programs denote.
struct Arrays {
  using Value = Tensor;

  std::string name() const { return "functions on arrays"; }
  std::string lacks(const Primitive&) const { return ""; }
  Tensors primitive(const Operation& operation, std::span<const Tensor> x) const {
    return operation(x);
  }
  std::optional<bool> decide(const Tensor& predicate) const { return predicate.item<bool>(); }
  /// Never called: a bool of an array is decided.
  Tensor merge(const Tensor& a, const Tensor&) const { return a; }
};

}  // namespace hom::categories
