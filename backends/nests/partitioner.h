// backends/nests/partitioner.h -- how a partition is made, step by step
//
// partition.cc takes the steps in order, partition_groups.cc lets them join the loops of a group,
// partition_stores.cc says where what is wanted in memory is stored.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <hom/backends/nests/domain.h>
#include <hom/backends/nests/partition.h>

namespace hom::nest {

/// Independent steps share a group where starting a kernel would be what costs.
constexpr std::int64_t tiny_loop = 1 << 11;

class Partitioner {
 public:
  Partitioner(const Program& program, const PartitionOptions& options)
      : program_(program), options_(options) {}

  Partition run() &&;

 private:
  Placement& at(Slot slot) { return result_.slots[slot]; }
  const TensorType& type(Slot slot) const { return program_.type(slot); }
  bool is_empty(Slot slot) const { return type(slot).size() == 0; }
  std::uint32_t item_count() const { return static_cast<std::uint32_t>(result_.items.size()); }
  Group& group_of(std::uint32_t item) { return result_.groups[result_.items[item].group]; }

  void find_users();
  /// Steps that take a slot, and one more for an output.
  std::uint32_t use_count(Slot slot) const {
    return first_user_[slot + 1] - first_user_[slot] + (is_output_[slot] ? 1 : 0);
  }
  void find_last_uses();
  void find_parts_read();
  bool is_made_of_positions(const Step& step);
  void place(std::uint32_t index, const Step& step);
  void place_view(const Step& step);
  void place_barrier(const Step& step);
  void place_computed(std::uint32_t index, const Step& step);
  void place_cumulative(std::uint32_t index, const Step& step);
  void place_update(std::uint32_t index, const Step& step);
  void place_concat(const Step& step);
  void place_step(std::uint32_t index, const Step& step);
  void place_outputs();

  /// The slots that an operand shows; itself where it is no view.
  std::span<const Slot> bases(Slot slot);
  std::uint32_t earliest(Slot slot);
  /// Has a buffer from now on.
  void store(Slot slot);
  void store_bases(Slot slot);
  /// A leaf or view as elements of its own, in the buffer of `into`.
  void materialise(Slot slot, Slot into);
  std::optional<std::uint32_t> store_in_place(const Stored& stored);
  std::uint32_t store_apart(const Stored& stored);
  std::optional<Slot> joined_only_for(Slot slot) const;
  std::uint32_t redirect(Slot joined, Slot into, std::int64_t offset);

  std::uint32_t new_group(const Shape& shape, const SmallVector<bool, 4>& unrolled, Index& index);
  Index fresh_index(Group& group, const Shape& shape, const SmallVector<bool, 4>& unrolled);
  SmallVector<bool, 4> unrolled_domain(const Step& step, Role role, const Shape& domain);

  AxisTable table(std::uint32_t item);
  std::optional<Axis> split(std::uint32_t item, Axis axis, std::int64_t inner);
  std::optional<Index> shown(Slot slot, std::uint32_t item);
  bool is_readable(Slot slot, const std::optional<Index>& at, std::uint32_t item);
  bool join(std::uint32_t item, const Step& step, Role role);
  bool join_as(std::uint32_t item, const Step& step, Role role, const Index& domain);
  /// The place of the axes in the tree, made where it can be; false where it cannot.
  bool has_path(Group& group, AxisSet axes);
  AxisSet path(const Group& group, std::size_t node) const;
  std::int64_t volume(const Group& group, AxisSet axes) const;
  void add_member(std::uint32_t item, const Step& step, Role role, const Index& domain);
  bool shares_reads(const Group& group, const Step& step);
  bool meets(std::uint32_t item, const Step& step);
  std::optional<Index> index_in_loop(const Group& group, const Shape& shape,
                                     const SmallVector<bool, 4>& unrolled) const;
  bool crosses_reductions(std::uint32_t item, AxisSet kept, AxisSet all);
  bool crosses_rows(const Group& group, const Index& domain) const;
  /// Whether nothing of a group is used after this step.
  bool dies_with(const Group& group, const Step& step) const;

  const Program& program_;
  const PartitionOptions& options_;
  Partition result_;
  std::vector<std::uint32_t> last_use_;
  /// The steps that take slot s: `users_[k]` for k from `first_user_[s]` to `first_user_[s + 1]`.
  std::vector<std::uint32_t> first_user_;
  std::vector<std::uint32_t> users_;
  std::vector<bool> is_output_;
};

}  // namespace hom::nest
