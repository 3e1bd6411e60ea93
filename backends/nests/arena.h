// backends/nests/arena.h -- blocks that are needed for some time, packed into one piece of memory
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hom::nest {

/// Memory needed from `begin` to `end`, both inclusive.
struct MemoryBlock {
  std::uint32_t begin;
  std::uint32_t end;
  /// A positive multiple of the alignment.
  std::int64_t bytes;
};

struct Packing {
  /// Of each block.
  std::vector<std::int64_t> offsets;
  std::int64_t bytes = 0;
};

/// Places blocks so that two that are needed at one time do not overlap: best fit, in the order of
/// time or against it, whichever needs less; few blocks also by size, the largest first. Time
/// n log n.
Packing pack(std::span<const MemoryBlock> blocks);

}  // namespace hom::nest
