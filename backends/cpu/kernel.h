// backends/cpu/kernel.h -- what a CPU kernel is, and the table of them
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <hom/core/executor.h>

namespace hom {

/// Computes the results of one step whose types have been checked. Takes its operands by value: an
/// array that only the list owns may be overwritten.
using Kernel = TensorList (*)(const Invocation& step, TensorList operands);

/// Kernels by the name of their primitive. A plain value: copy it, extend the copy, and give it to
/// an `EagerExecutor` of your own. Not to be extended while other threads compute with it.
class KernelTable {
 public:
  KernelTable();

  /// The kernel of a primitive, or null.
  Kernel find(std::string_view primitive) const;
  /// Throws `Error` where the primitive has a kernel already.
  void add(std::string primitive, Kernel kernel);
  /// In alphabetical order.
  std::vector<std::string> names() const;

  /// Two tables with the same stamp hold the same kernels: the key under which look-ups are cached.
  std::uint64_t stamp() const { return stamp_; }

 private:
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::uint64_t stamp_;
};

/// The table of the default executor, filled with Hom's kernels on first use.
KernelTable& cpu_kernels();

}  // namespace hom
