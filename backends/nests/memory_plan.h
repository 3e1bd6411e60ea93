// backends/nests/memory_plan.h -- places for the temporaries of a plan, in one arena
#pragma once

#include <hom/backends/nests/plan.h>

namespace hom::nest {

/// Every buffer's memory begins at a multiple of this.
inline constexpr std::int64_t memory_alignment = 64;

/// Sets `offset` of temporaries, `arena_bytes`, `live_bytes` and `donations`.
///
/// A buffer's memory is reused when it is live no more (liveness.h). Buffers of equal size become
/// one where a kernel may write what it reads for the last time (in_place.h), and where a copy's
/// source dies with it: then both addresses of the copy are equal. A temporary that shares the
/// memory of an output gets the output's place and index. Buffers that a kernel both reads and
/// writes stay what they are. `live_bytes` counts memory that is shared so once, rounded up to the
/// alignment.
///
/// Near-linear in the size of the plan. Expects a plan that has not been planned yet.
void plan_memory(Plan& plan);

}  // namespace hom::nest
