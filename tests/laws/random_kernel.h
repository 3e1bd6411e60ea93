// tests/laws/random_kernel.h -- random kernels of the loop-nest IR (backends/nests/nest.h), for
// tests of what runs them
//
// Kernels are well-formed, read within bounds, and mean the same whether the vectorised loop is
// taken one by one or several at once. All kinds of nodes and statements are drawn: loops along
// several axes, with reductions of every kind, carried values and both directions; gathers whose
// indices are clipped, gated or checked; scattered and combining stores; stages that read what
// former ones wrote, into arguments and local buffers; values that are computed in two loops.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <hom/backends/nests/nest.h>
#include <hom/tests/laws/random_program.h>

namespace hom::laws {

/// A kernel, and the bytes of its arguments before it runs.
struct KernelCase {
  nest::Kernel kernel;
  std::vector<std::vector<std::byte>> arguments;
};

/// What to draw.
struct KernelWish {
  /// About how many iterations all loops have at most; now and then one axis is longer.
  std::int64_t iterations = 3000;
  /// Iterated integrals (`polygamma`, `log_gamma_slope`, inverses of erf) too, which are slow.
  bool slow_functions = true;
};

KernelCase random_kernel(Choices& choices, const KernelWish& wish = {});

/// What has been drawn, and how often: `add f32`, `store sum i32`, `loop of 3 axes` ….
class KernelCoverage {
 public:
  void count(const nest::Kernel& kernel);
  /// All there is and was not drawn, one a line.
  std::string missing() const;

 private:
  std::map<std::string, int> drawn_;
};

}  // namespace hom::laws
