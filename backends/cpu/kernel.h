// backends/cpu/kernel.h -- what a CPU kernel is, and the table of them
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hom/core/executor.h>

namespace hom {

/// Computes the results of one step whose types have been checked. Takes its operands by value: an
/// array that only the list owns may be overwritten.
using Kernel = TensorList (*)(const Invocation& step, TensorList operands);

/// Computes a `composite` step (categories/custom_rules.h) as a whole, or nothing where it does not
/// know these operands, which it then leaves as they are: the decomposition is evaluated instead.
/// Operands are the leaves of the arguments, then what the decomposition holds in its closure;
/// `step.result_types` is what the decomposition gives.
using CompositeKernel = std::optional<TensorList> (*)(const Invocation& step, TensorList& operands);

/// Kernels by the name of their primitive, and of composites by the composite's name. A plain
/// value: copy it, extend the copy, and give it to an `EagerExecutor` of your own; or extend
/// `cpu_kernels()`, and assign a former copy to take out what was added since. Not to be changed
/// while other threads compute with it.
class KernelTable {
 public:
  KernelTable();

  /// The kernel of a primitive, or null.
  Kernel find(std::string_view primitive) const;
  /// Throws `Error` where the primitive has a kernel already.
  void add(std::string primitive, Kernel kernel);
  /// Primitives in alphabetical order.
  std::vector<std::string> names() const;

  /// The kernel of a composite, or null.
  CompositeKernel find_composite(std::string_view name) const;
  /// Throws `Error` where the composite has a kernel already.
  void add_composite(std::string name, CompositeKernel kernel);
  /// Composites in alphabetical order.
  std::vector<std::string> composite_names() const;

  /// Two tables with the same stamp hold the same kernels: the key under which look-ups are cached.
  std::uint64_t stamp() const { return stamp_; }

 private:
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::map<std::string, CompositeKernel, std::less<>> composites_;
  std::uint64_t stamp_;
};

/// The table of the default executor, filled with Hom's kernels on first use.
KernelTable& cpu_kernels();

}  // namespace hom
