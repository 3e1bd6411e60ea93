// backends/cpu/thread_pool.h -- one job on several threads: chunks that whoever is free takes
//
// A job is a number of chunks. The thread that has it takes chunks from a shared counter; workers
// that are free help. So a worker that the system does not run, because another process has its
// core, delays at most the one chunk that it holds. Which thread computes a chunk changes nothing:
// chunks are the same for any number of threads, down to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace hom::cpu {

namespace detail {
using Chunk = void (*)(const void* context, std::int64_t chunk);
void run_chunks(std::int64_t count, Chunk chunk, const void* context);
}  // namespace detail

/// Calls task(i) for each i in [0, count), several at once where threads are free, and returns when
/// all are done. A task that is inside one already runs its chunks in order on its own thread, and
/// so does everything where `threads()` is 1. Where tasks throw, chunks that have not begun are
/// left out, and the exception of the first that threw, in the order of chunks, is thrown.
template <class Task>
void parallel_for(std::int64_t count, const Task& task) {
  detail::run_chunks(
      count,
      [](const void* context, std::int64_t chunk) { (*static_cast<const Task*>(context))(chunk); },
      std::addressof(task));
}

/// Calls task(low, high) for the pieces of [0, extent): `grain` long, the last one perhaps shorter.
template <class Task>
void parallel_ranges(std::int64_t extent, std::int64_t grain, const Task& task) {
  if (extent <= 0) return;
  if (grain <= 0 || grain >= extent) return task(std::int64_t{0}, extent);
  parallel_for((extent + grain - 1) / grain, [&](std::int64_t chunk) {
    const std::int64_t low = chunk * grain;
    task(low, low + grain < extent ? low + grain : extent);
  });
}

/// Memory of the calling thread, aligned to 64 bytes, for what a chunk needs while it runs: kept
/// for the next one, so that repeated jobs allocate nothing.
std::byte* chunk_scratch(std::int64_t bytes);

/// Whether the calling thread runs a chunk: what it calls runs on it alone.
bool is_in_chunk();

/// Threads that the pool has started and not ended: for tests.
int started_threads();

}  // namespace hom::cpu
