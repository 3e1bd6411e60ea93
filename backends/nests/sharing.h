// backends/nests/sharing.h -- which launches of a plan several threads share, and in which pieces
//
// A kernel that is one loop of independent iterations is cut along its first axis. Others become
// several kernels first: each long loop at the top of a kernel is one of its own, and long
// reductions at the top are done in two stages (nest.h, `Reduction`). All of it depends on the
// plan alone, not on the number of threads, and changes no bit.
#pragma once

#include <hom/backends/nests/plan.h>

namespace hom::nest {

struct SharingOptions {
  /// Nanoseconds of one thread below which a launch is not worth sharing, and of one piece.
  double least_ns = 100'000;
  double piece_ns = 20'000;
};

/// Sets `Launch::grain` where it is worth it, and splits kernels for that. Before memory is
/// planned.
void share_launches(Plan& plan, const SharingOptions& options = {});

/// What one run of the kernel takes on one thread, roughly, in nanoseconds.
double estimated_ns(const Kernel& kernel);

}  // namespace hom::nest
