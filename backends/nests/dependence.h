// backends/nests/dependence.h -- which instructions of a plan have to keep their order
#pragma once

#include <algorithm>
#include <vector>

#include <hom/backends/nests/plan.h>

namespace hom::nest {

/// What an instruction does to a buffer.
struct BufferAccess {
  std::uint32_t buffer;
  bool reads;
  bool writes;
  /// Whether it begins at the start of the buffer, in every iteration of loops around.
  bool is_fixed = true;
  /// Bytes of one slice, where each slice of the instruction keeps to its own; else 0 (strips.h).
  std::int64_t slice = 0;
};
using BufferAccesses = std::vector<BufferAccess>;

/// Of a launch (`Call::epilogue` included), call or copy: none of others.
BufferAccesses accesses_of(const Plan& plan, const Instruction& instruction);

/// Whether the instruction has others inside.
bool has_instructions_inside(const Instruction& instruction);

/// Whether both touch a buffer that one of them writes.
inline bool conflict(const BufferAccess& a, const BufferAccess& b) {
  return a.buffer == b.buffer && (a.writes || b.writes);
}
inline bool conflict(const BufferAccesses& a, const BufferAccesses& b) {
  return std::any_of(a.begin(), a.end(), [&](const BufferAccess& x) {
    return std::any_of(b.begin(), b.end(), [&](const BufferAccess& y) { return conflict(x, y); });
  });
}

}  // namespace hom::nest
