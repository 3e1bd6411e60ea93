// backends/cpu/jit/interpreter_tiles.h -- tiles that are needed at different times share memory
#pragma once

#include <vector>

#include <hom/backends/cpu/jit/interpreter_code.h>

namespace hom::cpu {

/// Where tiles lie, while instructions name them by number: `Place::offset` of a place with stride
/// 1.
class Tiles {
 public:
  /// A new tile of elements of this size.
  Place add(std::size_t element_bytes);

  /// Gives each tile its place, `start` and after, such that those that are in use at the same time
  /// do not overlap. Sets `tile`; returns the end.
  std::uint32_t place(InterpretedKernel& kernel, std::uint32_t start, std::int64_t most_lanes);

 private:
  /// Instructions between which a tile is in use.
  struct Use {
    std::uint32_t element_bytes;
    std::uint32_t first = UINT32_MAX;
    std::uint32_t last = 0;
    /// From the start, if a tile had one lane.
    std::uint32_t offset = 0;
  };

  void find_uses(const InterpretedKernel& kernel);
  /// Returns the end, if a tile had one lane.
  std::uint32_t share();

  std::vector<Use> uses_;
};

}  // namespace hom::cpu
