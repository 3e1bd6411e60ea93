// tests/gradbench/evals.h -- all evals that read a file, with their workloads
#pragma once

#include <string>
#include <vector>

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

struct Eval {
  std::string name;
  Workload (*make)(const Records& in);
  /// Names of files in tests/gradbench/data, then those of GradBench's own that are too large for
  /// that.
  std::vector<std::string> small;
  std::vector<std::string> large;
};

const std::vector<Eval>& evals();

}  // namespace hom::gradbench
