// backends/nests/kernel_maker.h -- the kernel of a group: what it stores, as values of its axes
#pragma once

#include <hom/backends/nests/partition.h>

namespace hom::nest {

/// A reduction to be placed: over `along`, from the loop `below` to the loop `above`.
struct PendingReduction {
  Combine combine;
  Value term;
  Value result;
  SmallVector<Axis, 4> along;
  std::size_t above;
  std::size_t below;
};

/// A store or check to be placed in a loop.
struct Goal {
  std::variant<Store, Check> is;
  std::size_t loop;
};

/// Carries of the only loop along an axis.
struct PendingCarries {
  std::vector<Carry> carries;
  Axis axis;
  bool reverse;
};

/// What a kernel is made of, before its values are placed in loops.
struct Draft {
  Values values;
  std::vector<Buffer> buffers;
  std::vector<Failure> failures;
  std::vector<std::int64_t> extents;
  std::vector<LoopNode> loops;
  std::vector<PendingReduction> reductions;
  std::vector<Goal> goals;
  std::optional<PendingCarries> carries;
};

struct DraftOfGroup {
  Draft draft;
  /// The slot whose buffer each argument is.
  std::vector<Slot> arguments;
};

/// The values of a group. Steps are numbered from `first_step` on in origins.
DraftOfGroup draft_of(const Program& program, const Partition& partition, const Group& group,
                      std::uint32_t item, std::uint32_t first_step);

/// Places the values of a draft in loops: merges axes where memory allows, chooses the vectorised
/// one, and computes each value in the outermost loop where it is known.
Kernel arranged(Draft draft, std::string name);

}  // namespace hom::nest
