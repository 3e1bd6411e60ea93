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

/// The program of f at these arguments, captured now: calls evaluate it.
template <class F, class... Args>
std::function<Results()> prepared(const F& f, const Args&... args) {
  struct Ready {
    Program program;
    Evaluation evaluation;
    Results inputs;
    explicit Ready(Program made) : program(std::move(made)), evaluation(program) {}
  };
  auto ready = std::make_shared<Ready>(program(f, args...));
  const auto append = [&](const auto& argument) {
    for (const Tensor& leaf : leaves(argument)) ready->inputs.push_back(leaf);
  };
  (append(args), ...);
  return [ready] { return ready->evaluation(ready->inputs, Location::current()); };
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
