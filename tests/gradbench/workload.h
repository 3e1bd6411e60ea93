// tests/gradbench/workload.h -- an eval of GradBench on one set of inputs: Hom's functions, made
// ready, and a scalar loop beside them
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hom/hom.h>
#include <hom/tests/gradbench/records.h>

namespace hom::gradbench {

using Results = std::vector<Tensor>;
using Named = std::vector<std::pair<std::string, Tensor>>;

/// What is timed: each runs on the same inputs at every call.
struct Workload {
  /// The objective by Hom.
  std::function<Results()> primal;
  /// What the eval differentiates: a gradient, a Jacobian, a direction.
  std::function<Results()> gradient;
  /// The objective as a person would write it in C++ for one processor: plain loops over doubles.
  /// Its numbers are those of `primal`, row-major, one result after the other.
  std::function<std::vector<double>()> by_hand;
  /// Results under the names that the file of expected outputs gives them.
  std::function<Named(const Results& primal, const Results& gradient)> named;
};

/// What runs a program.
enum class Runner : std::uint8_t {
  /// Step by step.
  evaluation,
  /// Compiled, natively where there is a compiler.
  compiled,
};

/// What `prepared` and `ready_to_run` make on this thread; evaluations at first.
inline Runner& current_runner() {
  thread_local Runner runner = Runner::evaluation;
  return runner;
}

/// A program on these inputs, again and again.
inline std::function<Results()> ready_to_run(Program program, Results inputs) {
  if (current_runner() == Runner::compiled) {
    return [compiled = compile_program(std::move(program)), inputs] { return compiled(inputs); };
  }
  struct Ready {
    Program program;
    Evaluation evaluation;
    explicit Ready(Program made) : program(std::move(made)), evaluation(program) {}
  };
  return [ready = std::make_shared<Ready>(std::move(program)), inputs] {
    return ready->evaluation(inputs, Location::current());
  };
}

/// The program of f at these arguments, captured now.
template <class F, class... Args>
std::function<Results()> prepared(const F& f, const Args&... args) {
  Results inputs;
  const auto append = [&](const auto& argument) {
    for (const Tensor& leaf : leaves(argument)) inputs.push_back(leaf);
  };
  (append(args), ...);
  return ready_to_run(program(f, args...), std::move(inputs));
}

/// Results in the order of these names.
inline Named name_in_order(const std::vector<std::string>& names, const Results& results) {
  ensure(names.size() == results.size(), "a name for each result");
  Named all;
  for (std::size_t i = 0; i < names.size(); ++i) all.emplace_back(names[i], results[i]);
  return all;
}

inline Named joined(Named a, const Named& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace hom::gradbench
