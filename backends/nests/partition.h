// backends/nests/partition.h -- which steps of a program share a kernel
//
// Steps are taken in order. One that can run in the loops of a group in which its operands are
// computed joins it, and its operands need not be stored for it; any other starts a group. A group
// is a tree of loops: each step in it is computed once for each position along the axes from the
// root to its place. A reduction stands above the axes that it reduces, and what uses it along such
// axes stands below again: softmax is one group.
#pragma once

#include <vector>

#include <hom/backends/nests/index.h>
#include <hom/backends/nests/roles.h>

namespace hom::nest {

struct PartitionOptions {
  /// Values of a group, at most: longer programs are split.
  std::int64_t largest_group = 1024;
  /// Whether steps share groups at all.
  bool fuse = true;
  /// Whether a routine of the backend reads operand k of a step where and as it lies. (Row-major
  /// ones always.)
  std::function<bool(const Step& step, std::size_t operand, const Shape& shape,
                     const Shape& strides)>
      takes_strides = {};
  /// Whether a step with a program inside is code of the backend as a whole.
  std::function<bool(const Step& step)> is_routine = {};
  /// Inputs whose buffers an update may change after their last use: the carries of a loop.
  std::vector<bool> owned_inputs = {};
};

/// A loop of a group's tree: its axes, in the order of the elements in memory.
struct LoopNode {
  SmallVector<Axis, 4> axes;
  int parent;
};

/// Elements that a group stores.
struct Stored {
  /// What is stored, at which index.
  Slot value;
  Index at;
  /// Where: a slot's buffer, its own or that of a `concat`.
  Slot into;
  /// Element i of the value is number offset + Σ i·strides of `into`.
  std::int64_t offset = 0;
  Shape strides = {};
};

struct Group {
  std::vector<std::int64_t> extents;
  /// The first one is the root, without axes.
  std::vector<LoopNode> loops{{{}, -1}};
  /// Slots that are computed here, in order.
  std::vector<Slot> members;
  std::vector<Stored> stores;
  /// Some of the slots that are read from memory.
  SmallVector<Slot, 8> reads;
  /// The step that changes a buffer, or runs along an axis: the last one of a group of its own.
  std::optional<std::uint32_t> last_step;
  std::int64_t values = 0;
};

/// Elements of a stored slot as they lie in its buffer.
struct StridedView {
  Slot base;
  std::int64_t offset;
  Shape strides;
};

/// One thing to run.
struct Item {
  enum class Kind : std::uint8_t {
    group,
    /// A routine, or programs inside.
    step,
    /// The buffer of `to` gets the elements of `from`.
    copy,
  };
  Kind kind;
  std::uint32_t group = 0;
  std::uint32_t step = 0;
  /// Where the operands of a step are.
  std::vector<StridedView> operands = {};
  Slot from = 0;
  Slot to = 0;
};

/// Where a slot's elements are.
struct Placement {
  Role role = Role::leaf;
  bool is_input = false;
  /// Of an input: whether its buffer may be changed after its last use.
  bool is_owned = false;
  /// The item after which it is there, or `nowhere`: inputs, constants, views.
  std::uint32_t item = nowhere;
  /// Whether it is computed in the loops of that item, a group, at index `at`.
  bool is_member = false;
  /// Its index in its group.
  Index at = {};
  /// Of a reduction or small contraction, the index of its terms, with the axes of the sum last in
  /// `summed`.
  Index terms = {};
  SmallVector<Axis, 4> summed = {};
  /// Whether it has a buffer: inputs, and what is used where it is not computed.
  bool is_stored = false;
  /// The slot whose buffer it shares: that which an update changes, or a barrier passes on. Itself
  /// otherwise.
  Slot buffer = 0;
  /// Of a view: the slots that it shows, in which order is unspecified, and how many views deep.
  SmallVector<Slot, 4> bases = {};
  std::uint32_t depth = 0;
  /// Of a `concat`: the items that store its parts.
  SmallVector<std::uint32_t, 4> parts_in = {};
  /// What uses it is in no item before this one.
  std::uint32_t not_before = 0;

  static constexpr std::uint32_t nowhere = UINT32_MAX;
};

struct Partition {
  std::vector<Item> items;
  std::vector<Group> groups;
  std::vector<Placement> slots;
};

/// A slot as a view of one base, where views of views have strides.
std::optional<StridedView> strided_view(const Program& program, const Partition& partition,
                                        Slot slot);

Partition partition(const Program& program, const PartitionOptions& options);

}  // namespace hom::nest
