// tests/oracles/functions.h -- the functions that the oracle has values of, by name
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <hom/core/tensor.h>

namespace hom {

struct OracleFunction {
  std::string name;
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> f;
  /// How far values and gradients may be from the oracle's, in units of the dtype's precision …
  double epsilons = 8;
  /// … at the largest element of the tensor, where elements are sums of others; else at each one.
  bool whole = false;
  /// What is smaller than this has the precision of this: where a function is a difference.
  double least = 0;
};

/// Every function, in the groups of oracle.py.
const std::vector<OracleFunction>& oracle_functions();

/// Primitives that no oracle can try, and why.
std::map<std::string, std::string> primitives_without_oracle();

}  // namespace hom
