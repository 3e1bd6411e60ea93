// backends/nests/phases.h -- a kernel of several loops as several kernels
#pragma once

#include <functional>
#include <vector>

#include <hom/backends/nests/sharing.h>

namespace hom::nest {

/// Kernels that do together, one after the other, what one kernel does.
struct Phases {
  /// Memory between them.
  std::vector<TensorType> temporaries;
  struct Phase {
    Kernel kernel;
    /// Arguments of the kernel that was split, and, counted from `argument_count`, temporaries.
    std::vector<std::uint32_t> arguments;
  };
  std::vector<Phase> phases;
  std::uint32_t argument_count = 0;
};

/// Splits a kernel that is not splittable where that lets several threads share its long loops:
/// each loop at the top that is worth it becomes a kernel, its reductions two stages, and what is
/// between them others. No phases where nothing is worth it. Reductions along several axes that are
/// not one are left as they are unless all but the first have a power of two positions together:
/// the order of a sum knows no rows.
Phases split_into_phases(const Kernel& kernel, const SharingOptions& options);

}  // namespace hom::nest
