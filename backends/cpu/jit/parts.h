// backends/cpu/jit/parts.h -- a kernel in parts, by several threads
#pragma once

#include <cstdint>
#include <mutex>

#include <hom/backends/cpu/jit/code.h>
#include <hom/backends/cpu/thread_pool.h>

namespace hom::cpu {

/// Calls run(low, high, record) for the pieces of [0, extent), `grain` long. Each has a record of
/// its own; the one that counts is that of the first piece, in order, in which a check failed,
/// unless one had failed before.
template <class Run>
void run_parts(std::int64_t extent, std::int64_t grain, FailureRecord& record, const Run& run) {
  std::mutex mutex;
  FailureRecord first;
  std::int64_t first_low = INT64_MAX;
  parallel_ranges(extent, grain, [&](std::int64_t low, std::int64_t high) {
    FailureRecord own;
    run(low, high, own);
    if (own.failure == 0) return;
    const std::scoped_lock lock(mutex);
    if (low > first_low) return;
    first_low = low;
    first = own;
  });
  if (record.failure == 0) record = first;
}

}  // namespace hom::cpu
