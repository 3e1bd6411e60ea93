// backends/cpu/jit/interpreter_tiles.cc -- linear scan over the instructions
#include <hom/backends/cpu/jit/interpreter_tiles.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace hom::cpu {
namespace {

using Kind = Instruction::Kind;

/// Tiles in use should stay in the second-level cache together.
constexpr std::int64_t preferred_bytes = 128 * 1024;
/// Lanes are multiples of this, so that tiles are aligned to 64 bytes.
constexpr std::int64_t alignment = 64;
constexpr std::int64_t longest = 512;

/// Calls f(place) for each place of an instruction.
template <class I, class F>
void for_each_place(I& instruction, F&& f) {
  f(instruction.to);
  f(instruction.a);
  f(instruction.b);
  f(instruction.c);
}

}  // namespace

Place Tiles::add(std::size_t element_bytes) {
  uses_.push_back({static_cast<std::uint32_t>(element_bytes)});
  return {static_cast<std::uint32_t>(uses_.size() - 1), 1};
}

void Tiles::find_uses(const InterpretedKernel& kernel) {
  const std::vector<Instruction>& instructions = kernel.instructions;
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    for_each_place(instructions[i], [&](const Place& place) {
      if (place.stride == 0) return;
      Use& use = uses_[place.offset];
      use.first = std::min(use.first, i);
      use.last = std::max(use.last, i);
    });
  }
  // What is there before a loop and used in it is needed to its end. Inner loops end first.
  for (std::uint32_t end = 0; end < instructions.size(); ++end) {
    if (instructions[end].kind != Kind::end_loop && instructions[end].kind != Kind::end_tiles)
      continue;
    const std::uint32_t begin = instructions[end].target;
    for (Use& use : uses_) {
      if (use.first < begin && use.last > begin && use.last < end) use.last = end;
    }
  }
}

std::uint32_t Tiles::share() {
  std::vector<std::size_t> order(uses_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return uses_[a].first < uses_[b].first; });
  std::uint32_t end = 0;
  std::vector<std::size_t> active;
  std::array<std::vector<std::uint32_t>, 9> free;  // by size of the elements
  for (const std::size_t next : order) {
    Use& use = uses_[next];
    std::erase_if(active, [&](std::size_t other) {
      if (uses_[other].last >= use.first) return false;
      free[uses_[other].element_bytes].push_back(uses_[other].offset);
      return true;
    });
    std::vector<std::uint32_t>& same = free[use.element_bytes];
    if (same.empty()) {
      use.offset = end;
      end += use.element_bytes;
    } else {
      use.offset = same.back();
      same.pop_back();
    }
    active.push_back(next);
  }
  return end;
}

std::uint32_t Tiles::place(InterpretedKernel& kernel, std::uint32_t start,
                           std::int64_t most_lanes) {
  find_uses(kernel);
  const std::int64_t bytes = share();
  std::int64_t lanes = std::min(longest, (most_lanes + alignment - 1) / alignment * alignment);
  while (lanes > alignment && lanes * bytes > preferred_bytes) lanes -= alignment;
  kernel.tile = lanes;
  const auto at = [&](std::int64_t offset) {
    return start + static_cast<std::uint32_t>(offset * lanes);
  };
  for (Instruction& instruction : kernel.instructions) {
    for_each_place(instruction, [&](Place& place) {
      if (place.stride == 1) place.offset = at(uses_[place.offset].offset);
    });
  }
  return at(bytes);
}

}  // namespace hom::cpu
