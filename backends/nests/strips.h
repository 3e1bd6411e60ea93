// backends/nests/strips.h -- steps that share an outer axis, run strip by strip
//
// Large arrays that one step of a batch writes and the next one reads go through memory, although
// each index of the batch concerns only itself: the scores of a head of attention, the points as
// one component of a mixture sees them, the distances of one point from all others. Strip mining
// turns the loops around: all steps for one strip of the batch, then all for the next. What a
// strip's steps hand on is then as small as the strip, lies in memory that is used again for each,
// and stays in the cache.
#pragma once

#include <hom/backends/nests/plan.h>

namespace hom::nest {

struct StripOptions {
  /// Bytes of arrays that would no longer go through memory, below which it is not worth it.
  std::int64_t least_bytes = 1 << 20;
  /// Of these arrays, what one strip should hold: less than a second-level cache.
  std::int64_t strip_bytes = 256 << 10;
  /// Arrays of fewer bytes stay in the cache anyway.
  std::int64_t array_bytes = 64 << 10;
};

/// Puts routines with slices (a batch of products, the rows of one), the kernels that prepare their
/// operands and those that follow them into `Strips`. Kernels that compute little from little are
/// run again where that spares an array. Order changes only between instructions that do not depend
/// on each other; no bit changes. Before epilogues are attached and memory is planned.
void form_strips(Plan& plan, const StripOptions& options = {});

}  // namespace hom::nest
