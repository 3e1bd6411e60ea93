// backends/nests/partition.cc -- steps in order, each into a group that it fits or one of its own
#include <hom/backends/nests/partition.h>

#include <algorithm>

#include <hom/backends/nests/domain.h>
#include <hom/core/primitive.h>

namespace hom::nest {
namespace {

/// Views are followed so deep, and to so many slots.
constexpr std::uint32_t deepest_view = 24;
constexpr std::size_t most_bases = 8;
/// A group whose loops are not one loop cannot be split among threads, so large ones stay apart.
constexpr std::int64_t large_loop = 1 << 15;
/// Rows that do not lie in memory are reduced beside their producer only while they are cheap.
constexpr std::int64_t small_loop = 1 << 12;
/// Loops may run across rows of memory beneath a loop along them while they have so few positions.
constexpr std::int64_t short_loop = 64;
/// Independent steps share a group where starting a kernel would be what costs.
constexpr std::int64_t tiny_loop = 1 << 11;
/// So many slots that a group reads are kept in mind.
constexpr std::size_t most_reads = 64;
/// Splitting an axis renames it in all members.
constexpr std::size_t most_renamed = 256;

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

/// So many steps are looked at to see whether two meet.
constexpr std::size_t farthest_meeting = 16;

/// Whether elements lie one behind the other.
bool is_row_major(const Shape& shape, const Shape& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

/// Whether constants stand where the other index is unrolled, and all else is equal.
bool is_instance(const Index& one, const Index& of) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    const bool is_position =
        of[i].kind == Entry::Kind::unrolled && one[i].kind == Entry::Kind::constant;
    if (!is_position && !(one[i] == of[i])) return false;
  }
  return true;
}

void Partitioner::find_users() {
  is_output_.assign(program_.slot_count(), false);
  for (Slot slot : program_.outputs()) is_output_[slot] = true;
  first_user_.assign(program_.slot_count() + 1, 0);
  for (std::size_t i = 0; i < program_.step_count(); ++i) {
    for (Slot operand : program_.step(i).operands) ++first_user_[operand + 1];
  }
  for (std::size_t s = 0; s < program_.slot_count(); ++s) first_user_[s + 1] += first_user_[s];
  users_.resize(first_user_.back());
  std::vector<std::uint32_t> next(first_user_.begin(), first_user_.end() - 1);
  for (std::size_t i = 0; i < program_.step_count(); ++i) {
    for (Slot operand : program_.step(i).operands)
      users_[next[operand]++] = static_cast<std::uint32_t>(i);
  }
}

/// Gathers of which only parts are used are read where the parts are.
void Partitioner::find_parts_read() {
  std::vector<bool> is_whole(program_.slot_count(), false);
  for (Slot slot : program_.outputs()) is_whole[slot] = true;
  for (std::size_t i = 0; i < program_.step_count(); ++i) {
    const Step step = program_.step(i);
    const bool is_part = step.primitive.name == "slice";
    for (Slot operand : step.operands) is_whole[operand] = is_whole[operand] || !is_part;
  }
  for (std::size_t i = 0; i < program_.step_count(); ++i) {
    const Step step = program_.step(i);
    const bool is_read = step.primitive.name == "gather" && !is_empty(step.first_result) &&
                         !is_empty(step.operands[0]);
    if (is_read && !is_whole[step.first_result]) at(step.first_result).role = Role::view;
  }
}

/// Whether it is a cheap function of literals and positions, to be computed wherever it is wanted.
bool Partitioner::is_made_of_positions(const Step& step) {
  if (at(step.first_result).role != Role::elementwise) return false;
  constexpr double cheap = 4;
  const auto function = function_named(step.primitive.name);
  if (function && cost_of(*function) > cheap) return false;
  std::uint32_t depth = 0;
  for (Slot operand : step.operands) {
    const Placement& p = at(operand);
    if (p.is_input || p.is_stored || !bases(operand).empty()) return false;
    depth = std::max(depth, p.depth + 1);
  }
  at(step.first_result).depth = depth;
  return depth <= deepest_view;
}

void Partitioner::find_last_uses() {
  last_use_.assign(program_.slot_count(), 0);
  for (Slot slot : program_.outputs())
    last_use_[slot] = static_cast<std::uint32_t>(program_.step_count());
  for (std::size_t i = program_.step_count(); i-- > 0;) {
    const Step step = program_.step(i);
    const Role role = at(step.first_result).role;
    const bool passes_on = role == Role::view || role == Role::barrier;
    for (std::size_t k = 0; k < step.operands.size(); ++k) {
      std::uint32_t use = static_cast<std::uint32_t>(i);
      if (passes_on) {
        const std::size_t result = role == Role::barrier ? k : 0;
        use = last_use_[step.first_result + static_cast<Slot>(result)];
      }
      std::uint32_t& last = last_use_[step.operands[k]];
      last = std::max(last, use);
    }
  }
}

std::span<const Slot> Partitioner::bases(Slot slot) {
  Placement& p = at(slot);
  if (p.role == Role::view || p.role == Role::barrier || p.role == Role::leaf) {
    if (!p.is_member && !p.is_input) return {p.bases.data(), p.bases.size()};
  }
  if (p.bases.empty()) p.bases.push_back(slot);
  return {p.bases.data(), p.bases.size()};
}

std::uint32_t Partitioner::earliest(Slot slot) {
  std::uint32_t first = at(slot).not_before;
  for (Slot base : bases(slot)) {
    const Placement& p = at(base);
    first = std::max(first, p.not_before);
    if (p.item != Placement::nowhere) first = std::max(first, p.item + 1);
  }
  return first;
}

void Partitioner::store(Slot slot) { at(slot).is_stored = true; }

void Partitioner::store_bases(Slot slot) {
  for (Slot base : bases(slot)) store(base);
}

Partition Partitioner::run() && {
  result_.slots.resize(program_.slot_count());
  for (Slot slot = 0; slot < program_.slot_count(); ++slot) at(slot).buffer = slot;
  for (std::size_t i = 0; i < program_.inputs().size(); ++i) {
    const Slot input = program_.inputs()[i];
    at(input).is_input = true;
    at(input).is_owned = i < options_.owned_inputs.size() && options_.owned_inputs[i];
    at(input).is_stored = true;
    at(input).role = Role::captured;
  }
  for (std::size_t i = 0; i < program_.step_count(); ++i) {
    const Step step = program_.step(i);
    Role role = role_of(program_, step);
    if (role == Role::control && options_.is_routine && options_.is_routine(step))
      role = Role::routine;
    for (std::uint32_t r = 0; r < step.result_count; ++r) at(step.first_result + r).role = role;
  }
  find_parts_read();
  find_users();
  find_last_uses();
  for (std::size_t i = 0; i < program_.step_count(); ++i)
    place(static_cast<std::uint32_t>(i), program_.step(i));
  place_outputs();
  return std::move(result_);
}

void Partitioner::place(std::uint32_t index, const Step& step) {
  Placement& first = at(step.first_result);
  const Role role = first.role;
  const bool is_whole = role == Role::control || role == Role::routine || role == Role::barrier;
  if (!is_whole && step.result_count == 1 && is_empty(step.first_result)) {
    first.is_stored = true;
    first.role = Role::captured;
    // What may raise is checked where it is run.
    return;
  }
  if (options_.fuse && is_made_of_positions(step)) {
    first.role = Role::leaf;
    return;
  }
  switch (role) {
    case Role::leaf:
      return;
    case Role::captured:
      first.is_stored = true;
      return;
    case Role::view:
      return place_view(step);
    case Role::barrier:
      return place_barrier(step);
    case Role::cumulative:
      return place_cumulative(index, step);
    case Role::update:
      return place_update(index, step);
    case Role::concat:
      return place_concat(step);
    case Role::control:
    case Role::routine:
      return place_step(index, step);
    default:
      return place_computed(index, step);
  }
}

void Partitioner::place_view(const Step& step) {
  Placement& p = at(step.first_result);
  SmallVector<Slot, 4> all;
  for (Slot operand : step.operands) {
    p.depth = std::max(p.depth, at(operand).depth + 1);
    p.not_before = std::max(p.not_before, at(operand).not_before);
    for (Slot base : bases(operand)) {
      if (std::find(all.begin(), all.end(), base) == all.end()) all.push_back(base);
    }
    if (all.size() > most_bases) break;
  }
  if (all.size() <= most_bases && p.depth <= deepest_view) {
    p.bases = all;
    return;
  }
  p.depth = 0;
  place_computed(program_.definition(step.first_result), step);
}

void Partitioner::place_barrier(const Step& step) {
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    Placement& p = at(step.first_result + r);
    const Slot operand = step.operands[r];
    p.depth = at(operand).depth + 1;
    for (Slot base : bases(operand)) p.bases.push_back(base);
    p.not_before = item_count();
    store_bases(operand);
    if (p.depth <= deepest_view) continue;
    materialise(operand, step.first_result + r);
    p.role = Role::captured;
    p.bases.clear();
    p.depth = 0;
  }
}

AxisTable Partitioner::table(std::uint32_t item) {
  return {group_of(item).extents,
          [this, item](Axis axis, std::int64_t inner) { return split(item, axis, inner); }};
}

std::optional<Axis> Partitioner::split(std::uint32_t item, Axis axis, std::int64_t inner) {
  Group& group = group_of(item);
  if (group.members.size() > most_renamed || group.extents.size() == most_axes) return std::nullopt;
  const auto fresh = static_cast<Axis>(group.extents.size());
  group.extents.push_back(inner);
  group.extents[axis] /= inner;
  const auto rename = [&](SmallVector<Axis, 2>& axes) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    if (found != axes.end()) axes.insert(found + 1, &fresh, &fresh + 1);
  };
  const auto rename_longer = [&](SmallVector<Axis, 4>& axes) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    if (found != axes.end()) axes.insert(found + 1, &fresh, &fresh + 1);
  };
  const auto rename_index = [&](Index& index) {
    for (Entry& entry : index) rename(entry.axes);
  };
  for (LoopNode& node : group.loops) rename_longer(node.axes);
  for (Slot member : group.members) {
    rename_index(at(member).at);
    rename_index(at(member).terms);
    rename_longer(at(member).summed);
  }
  for (Stored& stored : group.stores) rename_index(stored.at);
  return fresh;
}

std::optional<Index> Partitioner::shown(Slot slot, std::uint32_t item) {
  const Placement& p = at(slot);
  if (p.is_member) return p.item == item ? std::optional(p.at) : std::nullopt;
  if (p.role != Role::view) return std::nullopt;
  const Step step = program_.step(program_.definition(slot));
  if (step.primitive.name == "gather") return std::nullopt;
  const auto operand = shown(step.operands[0], item);
  if (!operand) return std::nullopt;
  return index_shown(step, type(step.operands[0]), type(slot), *operand, table(item));
}

bool Partitioner::is_readable(Slot slot, const std::optional<Index>& index, std::uint32_t item) {
  const Placement& p = at(slot);
  if (p.is_member && p.item == item) return index && is_instance(*index, p.at);
  if (p.role == Role::view && !p.is_member && index) {
    const Step step = program_.step(program_.definition(slot));
    const std::string& name = step.primitive.name;
    if (name == "concat" || name == "pad") {
      if (const auto part = part_read(program_, step, *index))
        return is_readable(step.operands[part->operand], part->at, item);
    } else if (name != "gather") {
      const AxisTable axes{group_of(item).extents};
      if (const auto read = index_read(step, type(step.operands[0]), type(slot), *index, axes))
        return is_readable(step.operands[0], read, item);
    }
  }
  // From memory: nothing of it may be computed in these loops.
  for (Slot base : bases(slot)) {
    if (at(base).item == item) return false;
  }
  return true;
}

AxisSet Partitioner::path(const Group& group, std::size_t node) const {
  AxisSet axes = 0;
  for (int n = static_cast<int>(node); n >= 0;
       n = group.loops[static_cast<std::size_t>(n)].parent) {
    for (Axis axis : group.loops[static_cast<std::size_t>(n)].axes) axes |= axis_bit(axis);
  }
  return axes;
}

std::int64_t Partitioner::volume(const Group& group, AxisSet axes) const {
  std::int64_t product = 1;
  for (Axis axis = 0; axis < group.extents.size(); ++axis) {
    if ((axes & axis_bit(axis)) != 0) product *= group.extents[axis];
  }
  return product;
}

bool Partitioner::has_path(Group& group, AxisSet axes) {
  AxisSet known = 0;
  for (std::size_t n = 0; n < group.loops.size(); ++n) {
    for (Axis axis : group.loops[n].axes) known |= axis_bit(axis);
  }
  const AxisSet fresh = axes & ~known;
  const AxisSet old = axes & known;
  std::size_t place = group.loops.size();
  for (std::size_t n = 0; n < group.loops.size() && place == group.loops.size(); ++n) {
    if (path(group, n) == old) place = n;
  }
  for (std::size_t n = 1; n < group.loops.size() && place == group.loops.size(); ++n) {
    // Part of a loop's axes: they become the outer loop, the others an inner one.
    const AxisSet above = path(group, static_cast<std::size_t>(group.loops[n].parent));
    const AxisSet all = path(group, n);
    if ((above & ~old) != 0 || (old & ~all) != 0) continue;
    LoopNode outer{{}, group.loops[n].parent};
    LoopNode inner{{}, static_cast<int>(n)};
    for (Axis axis : group.loops[n].axes)
      ((old & axis_bit(axis)) != 0 ? outer : inner).axes.push_back(axis);
    const int moved = static_cast<int>(group.loops.size());
    for (LoopNode& node : group.loops) {
      if (node.parent == static_cast<int>(n)) node.parent = moved;
    }
    group.loops[n] = outer;
    group.loops.push_back(inner);
    place = n;
  }
  if (place == group.loops.size()) return false;
  if (fresh == 0) return true;
  if (place == 0 && group.loops.size() > 1 && volume(group, axes) > large_loop) return false;
  LoopNode node{{}, static_cast<int>(place)};
  for (Axis axis = 0; axis < group.extents.size(); ++axis) {
    if ((fresh & axis_bit(axis)) != 0) node.axes.push_back(axis);
  }
  group.loops.push_back(node);
  return true;
}

SmallVector<bool, 4> Partitioner::unrolled_domain(const Step& step, Role role,
                                                  const Shape& domain) {
  const SmallVector<bool, 4> summed = summed_axes(program_, step, role);
  std::int64_t terms = 1;
  bool sums = false;
  bool is_short = true;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    if (!summed[i]) continue;
    terms *= domain[i];
    is_short = is_short && domain[i] <= 4;
    sums = true;
  }
  if (!sums) return unrolled_axes(domain);
  // What stays is unrolled as in the result.
  Shape result;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    if (!summed[i]) result.push_back(domain[i]);
  }
  const SmallVector<bool, 4> kept = unrolled_axes(result);
  SmallVector<bool, 4> unrolled(domain.size(), false);
  for (std::size_t i = 0, k = 0; i < domain.size(); ++i) {
    if (!summed[i]) unrolled[i] = kept[k++];
  }
  const bool is_place = step.primitive.name == "argmax" || step.primitive.name == "argmin";
  is_short = (is_short && terms <= 16 && !is_place) || role == Role::contraction;
  std::int64_t total = is_short ? terms : 1;
  for (std::size_t i = domain.size(); i-- > 0;) {
    if (summed[i]) {
      unrolled[i] = is_short && domain[i] > 1;
    } else if (unrolled[i]) {
      // Of the others only where it is little.
      unrolled[i] = total * domain[i] <= 64;
      if (unrolled[i]) total *= domain[i];
    }
  }
  return unrolled;
}

Index Partitioner::fresh_index(Group& group, const Shape& shape,
                               const SmallVector<bool, 4>& unrolled) {
  Index index(shape.size());
  LoopNode node{{}, 0};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (unrolled[i]) {
      index[i].kind = Entry::Kind::unrolled;
      continue;
    }
    const auto axis = static_cast<Axis>(group.extents.size());
    group.extents.push_back(shape[i]);
    index[i].kind = Entry::Kind::axes;
    index[i].axes.push_back(axis);
    node.axes.push_back(axis);
  }
  if (!node.axes.empty()) group.loops.push_back(node);
  return index;
}

std::uint32_t Partitioner::new_group(const Shape& shape, const SmallVector<bool, 4>& unrolled,
                                     Index& index) {
  const std::uint32_t item = item_count();
  result_.items.push_back(
      {.kind = Item::Kind::group, .group = static_cast<std::uint32_t>(result_.groups.size())});
  result_.groups.emplace_back();
  index = fresh_index(result_.groups.back(), shape, unrolled);
  return item;
}

void Partitioner::add_member(std::uint32_t item, const Step& step, Role role, const Index& domain) {
  Group& group = group_of(item);
  Placement& p = at(step.first_result);
  p.item = item;
  p.is_member = true;
  p.bases.clear();
  if (role == Role::reduction || role == Role::contraction) {
    const SmallVector<bool, 4> summed = summed_axes(program_, step, role);
    p.terms = domain;
    p.at.clear();
    for (std::size_t i = 0; i < domain.size(); ++i) {
      if (!summed[i]) {
        p.at.push_back(domain[i]);
      } else {
        for (Axis axis : domain[i].axes) p.summed.push_back(axis);
      }
    }
  } else {
    p.at = domain;
  }
  group.members.push_back(step.first_result);
  std::int64_t instances = 1;
  const Shape shape = domain_of(program_, step, role);
  for (std::size_t i = 0; i < domain.size(); ++i) {
    if (domain[i].kind == Entry::Kind::unrolled) instances *= shape[i];
  }
  group.values += instances;
  // What is not computed here comes from memory.
  for (Slot operand : step.operands) {
    for (Slot base : bases(operand)) {
      if (at(base).is_member && at(base).item == item) continue;
      store(base);
      if (group.reads.size() < most_reads) group.reads.push_back(base);
    }
  }
}

bool Partitioner::shares_reads(const Group& group, const Step& step) {
  for (Slot operand : step.operands) {
    for (Slot base : bases(operand)) {
      if (std::find(group.reads.begin(), group.reads.end(), base) != group.reads.end()) return true;
    }
  }
  return false;
}

/// Whether what is made of the step's result soon takes what a group computes too.
bool Partitioner::meets(std::uint32_t item, const Step& step) {
  SmallVector<Slot, 16> open{step.first_result};
  std::size_t seen = 0;
  for (std::size_t next = 0; next < open.size(); ++next) {
    for (std::uint32_t k = first_user_[open[next]]; k < first_user_[open[next] + 1]; ++k) {
      if (++seen > farthest_meeting) return false;
      const Step user = program_.step(users_[k]);
      const Role role = at(user.first_result).role;
      if (role == Role::control || role == Role::routine || role == Role::barrier) continue;
      for (Slot operand : user.operands) {
        // What comes later has no place yet, but views show what may have.
        const auto is_later = [&] {
          return !at(operand).is_input &&
                 program_.definition(operand) >= program_.definition(step.first_result);
        };
        while (is_later() && at(operand).role == Role::view)
          operand = program_.step(program_.definition(operand)).operands[0];
        if (is_later()) continue;
        for (Slot base : bases(operand)) {
          if (at(base).is_member && at(base).item == item) return true;
        }
      }
      for (std::uint32_t r = 0; r < user.result_count; ++r) open.push_back(user.first_result + r);
    }
  }
  return false;
}

/// The index of a whole domain in the axes from the root to one of the group's loops, in their
/// order.
std::optional<Index> Partitioner::index_in_loop(const Group& group, const Shape& shape,
                                                const SmallVector<bool, 4>& unrolled) const {
  for (std::size_t n = 0; n < group.loops.size(); ++n) {
    // Beside a long loop a single value would keep it from being split.
    if (n == 0 && std::any_of(group.loops.begin(), group.loops.end(), [&](const LoopNode& loop) {
          AxisSet all = 0;
          for (Axis axis : loop.axes) all |= axis_bit(axis);
          return volume(group, all) > tiny_loop;
        })) {
      continue;
    }
    SmallVector<Axis, 8> axes;
    for (std::size_t m = n; m != 0; m = static_cast<std::size_t>(group.loops[m].parent))
      axes.insert(axes.begin(), group.loops[m].axes.begin(), group.loops[m].axes.end());
    Index index(shape.size());
    std::size_t next = 0;
    bool fits = true;
    for (std::size_t i = 0; i < shape.size() && fits; ++i) {
      if (shape[i] == 1) continue;
      if (unrolled[i]) {
        index[i].kind = Entry::Kind::unrolled;
        continue;
      }
      fits = next < axes.size() && group.extents[axes[next]] == shape[i];
      if (fits) index[i] = Entry{Entry::Kind::axes, {axes[next++]}, 0};
    }
    if (fits && next == axes.size()) return index;
  }
  return std::nullopt;
}

bool Partitioner::dies_with(const Group& group, const Step& step) const {
  const std::uint32_t now = program_.definition(step.first_result);
  return std::all_of(group.members.begin(), group.members.end(),
                     [&](Slot member) { return last_use_[member] <= now; });
}

/// Whether a reduction from `all` to `kept` would be one loop across another one, in which other
/// reductions end.
bool Partitioner::crosses_reductions(std::uint32_t item, AxisSet kept, AxisSet all) {
  const Group& group = group_of(item);
  return std::any_of(group.members.begin(), group.members.end(), [&](Slot member) {
    const AxisSet axes = axes_of(at(member).at);
    return !at(member).summed.empty() && axes != kept && axes != all && (kept & ~axes) == 0 &&
           (axes & ~all) == 0;
  });
}

/// Whether a long loop would lie beneath one whose axis comes after it in the domain, and so walk
/// across rows: an outer product beside the step that computes its second factor, say. What is
/// computed in the loop above is cheaper stored and read again than each row is entered anew.
bool Partitioner::crosses_rows(const Group& group, const Index& domain) const {
  const auto depth = [&](Axis axis) {
    for (std::size_t n = 0; n < group.loops.size(); ++n) {
      const LoopNode& node = group.loops[n];
      if (std::find(node.axes.begin(), node.axes.end(), axis) == node.axes.end()) continue;
      int levels = 0;
      for (int m = node.parent; m >= 0; m = group.loops[static_cast<std::size_t>(m)].parent)
        ++levels;
      return levels;
    }
    return static_cast<int>(group.loops.size());  // a new one, beneath all
  };
  std::int64_t across = 1;
  int least = static_cast<int>(group.loops.size()) + 1;
  for (std::size_t i = domain.size(); i-- > 0;) {
    for (std::size_t k = domain[i].axes.size(); k-- > 0;) {
      const Axis axis = domain[i].axes[k];
      if (depth(axis) > least) across *= group.extents[axis];
      least = std::min(least, depth(axis));
    }
  }
  return across > short_loop;
}

bool Partitioner::join_as(std::uint32_t item, const Step& step, Role role, const Index& domain) {
  Group& group = group_of(item);
  const Shape shape = domain_of(program_, step, role);
  const SmallVector<bool, 4> summed = summed_axes(program_, step, role);
  AxisSet kept = 0;
  bool unrolls = false;
  bool loops = false;
  bool kept_first = true;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    if (!summed[i]) {
      kept |= axes_of({domain[i]});
      if (domain[i].kind == Entry::Kind::axes && loops) kept_first = false;
    } else {
      unrolls |= domain[i].kind == Entry::Kind::unrolled;
      loops |= domain[i].kind == Entry::Kind::axes;
    }
  }
  if (unrolls && loops) return false;
  const bool is_place = step.primitive.name == "argmax" || step.primitive.name == "argmin";
  if ((is_place && unrolls) || (role == Role::contraction && loops)) return false;
  const std::vector<Index> instances = instances_of(domain, shape);
  if (group.values + static_cast<std::int64_t>(instances.size()) > options_.largest_group)
    return false;
  for (const Index& one : instances) {
    for (const Read& read : reads_of(program_, step, role, one)) {
      // A member's own index has unrolled entries where this one has constants.
      if (!is_readable(read.slot, read.at, item)) return false;
    }
  }
  const AxisSet all = axes_of(domain);
  if (!kept_first && volume(group, all) > small_loop && !dies_with(group, step)) return false;
  const bool sums = role == Role::reduction || role == Role::contraction;
  if (!sums && volume(group, all) > small_loop && crosses_rows(group, domain)) return false;
  if (!has_path(group, all)) return false;
  if (!has_path(group, kept)) return false;
  if (loops && crosses_reductions(item, kept, all)) return false;
  add_member(item, step, role, domain);
  return true;
}

bool Partitioner::join(std::uint32_t item, const Step& step, Role role) {
  Group& group = group_of(item);
  const Shape shape = domain_of(program_, step, role);
  Index domain(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) domain[i].kind = Entry::Kind::free;
  }
  for (std::size_t k = 0; k < step.operands.size(); ++k) {
    const auto operand = shown(step.operands[k], item);
    if (!operand) continue;
    const auto known = domain_shown(program_, step, role, k, *operand);
    if (!known) continue;
    for (std::size_t i = 0; i < domain.size(); ++i) {
      if ((*known)[i].kind == Entry::Kind::free || shape[i] == 1) continue;
      if (domain[i].kind == Entry::Kind::free) domain[i] = (*known)[i];
      if (!(domain[i] == (*known)[i])) return false;
    }
  }
  // Axes that no operand tells: those of a loop below, or new ones.
  AxisSet known = axes_of(domain);
  const SmallVector<bool, 4> unrolled = unrolled_domain(step, role, shape);
  SmallVector<std::size_t, 4> free;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    if (domain[i].kind != Entry::Kind::free) continue;
    if (unrolled[i]) {
      domain[i] = Entry{Entry::Kind::unrolled, {}, 0};
    } else {
      free.push_back(i);
    }
  }
  if (!free.empty()) {
    bool found = false;
    for (std::size_t n = 1; n < group.loops.size() && !found; ++n) {
      const LoopNode& node = group.loops[n];
      if (path(group, static_cast<std::size_t>(node.parent)) != known) continue;
      if (node.axes.size() != free.size()) continue;
      found = true;
      for (std::size_t j = 0; j < free.size(); ++j)
        found = found && group.extents[node.axes[j]] == shape[free[j]];
      for (std::size_t j = 0; found && j < free.size(); ++j)
        domain[free[j]] = Entry{Entry::Kind::axes, {node.axes[j]}, 0};
    }
    if (!found) {
      if (group.extents.size() + free.size() > most_axes) return false;
      for (std::size_t i : free) {
        domain[i] = Entry{Entry::Kind::axes, {static_cast<Axis>(group.extents.size())}, 0};
        group.extents.push_back(shape[i]);
      }
    }
  }
  return join_as(item, step, role, domain);
}

void Partitioner::place_computed(std::uint32_t index, const Step& step) {
  (void)index;
  const Role role = at(step.first_result).role;
  const Shape shape = domain_of(program_, step, role);
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size *= extent;
  std::uint32_t bound = 0;
  std::uint32_t latest = Placement::nowhere;
  std::uint32_t not_before = 0;
  for (Slot operand : step.operands) {
    bound = std::max(bound, earliest(operand));
    not_before = std::max(not_before, at(operand).not_before);
    for (Slot base : bases(operand)) {
      const Placement& p = at(base);
      if (p.item == Placement::nowhere) continue;
      if (latest == Placement::nowhere || p.item > latest) latest = p.item;
    }
  }
  if (options_.fuse && size > 0) {
    if (latest != Placement::nowhere && latest >= not_before && latest + 1 == bound &&
        result_.items[latest].kind == Item::Kind::group && !group_of(latest).last_step &&
        join(latest, step, role)) {
      return;
    }
    // Beside others with the same loops, where that saves starting a kernel or reading twice.
    if (!result_.items.empty() && item_count() > bound) {
      const std::uint32_t last = item_count() - 1;
      const bool is_open =
          result_.items[last].kind == Item::Kind::group && !group_of(last).last_step;
      if (is_open &&
          (size <= tiny_loop || shares_reads(group_of(last), step) || meets(last, step))) {
        const auto domain =
            index_in_loop(group_of(last), shape, unrolled_domain(step, role, shape));
        if (domain && join_as(last, step, role, *domain)) return;
      }
    }
  }
  // A sum of nothing has no loop.
  Shape looped = shape;
  for (std::int64_t& extent : looped) extent = std::max<std::int64_t>(extent, 1);
  Index domain;
  const std::uint32_t item = new_group(looped, unrolled_domain(step, role, looped), domain);
  const SmallVector<bool, 4> summed = summed_axes(program_, step, role);
  AxisSet kept = 0;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    if (!summed[i]) kept |= axes_of({domain[i]});
  }
  ensure(has_path(group_of(item), kept), "a new group has a loop for the axes that stay");
  add_member(item, step, role, domain);
}

/// A view of what the last group computes is stored there. The item, where it can be.
std::optional<std::uint32_t> Partitioner::store_in_place(const Stored& stored) {
  const Slot slot = stored.value;
  if (!options_.fuse || at(slot).role != Role::view) return std::nullopt;
  std::uint32_t latest = 0;
  bool any = false;
  for (Slot base : bases(slot)) {
    if (!at(base).is_member) continue;
    latest = std::max(latest, at(base).item);
    any = true;
  }
  if (!any || earliest(slot) != latest + 1 || group_of(latest).last_step) return std::nullopt;
  const auto index = shown(slot, latest);
  if (!index) return std::nullopt;
  for (const Entry& entry : *index) {
    if (entry.kind == Entry::Kind::free) return std::nullopt;
  }
  for (const Index& one : instances_of(*index, type(slot).shape)) {
    if (!is_readable(slot, one, latest)) return std::nullopt;
  }
  Group& group = group_of(latest);
  if (!has_path(group, axes_of(*index))) return std::nullopt;
  group.stores.push_back({slot, *index, stored.into, stored.offset, stored.strides});
  for (Slot base : bases(slot)) {
    if (!at(base).is_member || at(base).item != latest) store(base);
  }
  return latest;
}

/// The `concat` whose elements, one after the other, are those of the slot, and are of no use to
/// anything else.
std::optional<Slot> Partitioner::joined_only_for(Slot slot) const {
  Slot base = slot;
  while (true) {
    const Placement& p = result_.slots[base];
    if (p.is_input || (base != slot && use_count(base) != 1)) return std::nullopt;
    if (p.role == Role::concat)
      return !p.is_member && p.is_stored && !p.parts_in.empty() ? std::optional(base)
                                                                : std::nullopt;
    const Step step = program_.step(program_.definition(base));
    if (p.role != Role::view || p.is_member || step.primitive.name != "reshape")
      return std::nullopt;
    base = step.operands[0];
  }
}

/// The parts of a `concat` are stored into the elements of `into` from `offset` on instead.
std::uint32_t Partitioner::redirect(Slot joined, Slot into, std::int64_t offset) {
  std::uint32_t last = 0;
  for (std::uint32_t item : at(joined).parts_in) {
    for (Stored& stored : group_of(item).stores) {
      if (stored.into != joined) continue;
      stored.into = into;
      stored.offset += offset;
    }
    last = std::max(last, item);
    at(into).parts_in.push_back(item);
  }
  at(joined).is_stored = false;
  at(joined).parts_in.clear();
  return last;
}

void Partitioner::materialise(Slot slot, Slot into) {
  store(into);
  const bool is_only_output = slot == into && use_count(slot) == 1 && is_output_[slot];
  if (const auto joined = joined_only_for(slot); joined && slot != *joined && is_only_output) {
    at(into).item = redirect(*joined, into, 0);
    at(into).parts_in.clear();
    return;
  }
  const Shape strides = row_major_strides(type(into).shape);
  if (const auto item = store_in_place({slot, {}, into, 0, strides})) {
    at(into).item = *item;
    return;
  }
  at(into).item = store_apart({slot, {}, into, 0, strides});
}

/// In a group of its own.
std::uint32_t Partitioner::store_apart(const Stored& stored) {
  const Shape& shape = type(stored.value).shape;
  Index index;
  const std::uint32_t item = new_group(shape, unrolled_axes(shape), index);
  Group& group = group_of(item);
  group.values = 1;
  group.stores.push_back({stored.value, index, stored.into, stored.offset, stored.strides});
  store_bases(stored.value);
  return item;
}

void Partitioner::place_cumulative(std::uint32_t index, const Step& step) {
  const Slot result = step.first_result;
  store_bases(step.operands[0]);
  Index domain;
  SmallVector<bool, 4> none(type(result).shape.size(), false);
  const std::uint32_t item = new_group(type(result).shape, none, domain);
  Group& group = group_of(item);
  group.last_step = index;
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  AxisSet others = axes_of(domain);
  if (type(result).shape[axis] != 1) others &= ~axes_of({domain[axis]});
  ensure(has_path(group, others), "a new group has a loop for the axes beside");
  Placement& p = at(result);
  p.item = item;
  p.at = domain;
  store(result);
}

void Partitioner::place_update(std::uint32_t index, const Step& step) {
  const Slot result = step.first_result;
  const Slot whole = step.operands[0];
  for (std::size_t k = 1; k < step.operands.size(); ++k) store_bases(step.operands[k]);
  Placement& old = at(whole);
  const bool is_computed_or_made = old.is_member || old.is_owned ||
                                   (old.item != Placement::nowhere && old.role != Role::view &&
                                    old.role != Role::barrier && old.role != Role::leaf);
  bool is_read = false;
  for (std::size_t k = 1; k < step.operands.size(); ++k) {
    for (Slot base : bases(step.operands[k])) is_read |= at(base).buffer == old.buffer;
  }
  if (is_computed_or_made && last_use_[whole] <= index && !is_read) {
    store(whole);
    at(result).buffer = old.buffer;
  } else if (is_computed_or_made || old.is_input || old.role == Role::captured) {
    store(whole);
    result_.items.push_back({.kind = Item::Kind::copy, .from = whole, .to = result});
  } else {
    materialise(whole, result);
  }
  const Slot update = step.operands[step.primitive.name == "scatter" ? 2 : 1];
  Placement& p = at(result);
  store(result);
  if (is_empty(update)) {
    p.item = item_count() == 0 ? Placement::nowhere : item_count() - 1;
    return;
  }
  Index domain;
  SmallVector<bool, 4> unrolled = unrolled_axes(type(update).shape);
  if (step.primitive.name == "scatter") {
    // Updates of one element come in order, so they stay in loops.
    for (std::size_t i = 0; i + 1 < type(step.operands[1]).shape.size(); ++i) unrolled[i] = false;
  }
  const std::uint32_t item = new_group(type(update).shape, unrolled, domain);
  group_of(item).last_step = index;
  at(result).item = item;
  at(result).at = domain;
}

void Partitioner::place_concat(const Step& step) {
  const Slot result = step.first_result;
  const Shape& shape = type(result).shape;
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  const Shape strides = row_major_strides(shape);
  const bool is_leading =
      std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis),
                  [](std::int64_t extent) { return extent == 1; });
  SmallVector<std::uint32_t, 4> items;
  std::vector<Stored> literals;
  std::int64_t offset = 0;
  for (Slot operand : step.operands) {
    const Stored part{operand, {}, result, offset, strides};
    offset += type(operand).shape[axis] * strides[axis];
    if (is_empty(operand)) continue;
    const Placement& p = at(operand);
    const auto joined = is_leading ? joined_only_for(operand) : std::nullopt;
    if (joined && use_count(operand) == 1) {
      items.push_back(redirect(*joined, result, part.offset));
    } else if (p.is_member) {
      group_of(p.item).stores.push_back({operand, p.at, result, part.offset, strides});
      items.push_back(p.item);
    } else if (bases(operand).empty()) {
      literals.push_back(part);
    } else if (const auto item = store_in_place(part)) {
      items.push_back(*item);
    } else {
      items.push_back(store_apart(part));
    }
  }
  for (const Stored& part : literals) {
    // Beside the others, where these have the same loops.
    const Shape& of = type(part.value).shape;
    const std::uint32_t last = items.empty() ? 0 : *std::max_element(items.begin(), items.end());
    std::optional<Index> index;
    if (options_.fuse && !items.empty() && result_.items[last].kind == Item::Kind::group &&
        !group_of(last).last_step)
      index = index_in_loop(group_of(last), of, unrolled_axes(of));
    if (index) {
      group_of(last).stores.push_back({part.value, *index, result, part.offset, strides});
    } else {
      items.push_back(store_apart(part));
    }
  }
  Placement& p = at(result);
  if (!items.empty()) p.item = *std::max_element(items.begin(), items.end());
  for (std::uint32_t item : items) p.parts_in.push_back(item);
  store(result);
}

void Partitioner::place_step(std::uint32_t index, const Step& step) {
  Item item{.kind = Item::Kind::step, .step = index};
  for (std::size_t k = 0; k < step.operands.size(); ++k) {
    const Slot operand = step.operands[k];
    auto view = strided_view(program_, result_, operand);
    const bool is_taken =
        view && (is_empty(operand) || is_row_major(type(operand).shape, view->strides) ||
                 (options_.takes_strides &&
                  options_.takes_strides(step, k, type(operand).shape, view->strides)));
    if (!is_taken) {
      materialise(operand, operand);
      view = strided_view(program_, result_, operand);
    }
    store(view->base);
    item.operands.push_back(*view);
  }
  result_.items.push_back(std::move(item));
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    Placement& p = at(step.first_result + r);
    p.item = item_count() - 1;
    p.is_stored = true;
  }
}

void Partitioner::place_outputs() {
  for (Slot slot : program_.outputs()) {
    Placement& p = at(slot);
    if (is_empty(slot) || p.is_stored) {
      p.is_stored = true;
      continue;
    }
    if (p.is_member) {
      store(slot);
    } else {
      materialise(slot, slot);
    }
  }
}

}  // namespace

std::optional<StridedView> strided_view(const Program& program, const Partition& partition,
                                        Slot slot) {
  const Placement& p = partition.slots[slot];
  const TensorType& type = program.type(slot);
  const bool is_view = !p.is_member && !p.is_input && !p.is_stored &&
                       (p.role == Role::view || p.role == Role::barrier);
  if (!is_view) {
    if (p.role == Role::leaf && !p.is_stored) return std::nullopt;
    return StridedView{slot, 0, row_major_strides(type.shape)};
  }
  const Step step = program.step(program.definition(slot));
  const std::string& name = step.primitive.name;
  if (name == "concat" || name == "pad" || name == "gather") return std::nullopt;
  const Slot operand =
      p.role == Role::barrier ? step.operands[slot - step.first_result] : step.operands[0];
  auto view = strided_view(program, partition, operand);
  if (!view) return std::nullopt;
  const Shape& from = program.type(operand).shape;
  Shape strides(type.shape.size(), 0);
  if (name == "broadcast_in_dim") {
    const Shape& axes = step.attributes.shape("axes");
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] != 1) strides[static_cast<std::size_t>(axes[i])] = view->strides[i];
    }
  } else if (name == "transpose") {
    const Shape& permutation = step.attributes.shape("permutation");
    for (std::size_t i = 0; i < strides.size(); ++i)
      strides[i] = view->strides[static_cast<std::size_t>(permutation[i])];
  } else if (name == "slice") {
    for (std::size_t i = 0; i < strides.size(); ++i) {
      view->offset += step.attributes.shape("start")[i] * view->strides[i];
      strides[i] = step.attributes.shape("step")[i] * view->strides[i];
    }
  } else if (name == "reshape") {
    // Digits of both shapes from the end: an axis of the result lies in one of the operand, or in
    // several that lie one behind the other.
    std::size_t k = from.size();
    std::int64_t left = 1;    // of the operand's axis in hand
    std::int64_t stride = 0;  // of its next digit
    for (std::size_t i = type.shape.size(); i-- > 0;) {
      if (type.shape[i] == 1) continue;
      std::int64_t wanted = type.shape[i];
      bool is_first = true;
      std::int64_t reach = 0;
      while (wanted > 1) {
        while (left == 1) {
          if (k == 0) return std::nullopt;
          --k;
          left = from[k];
          stride = view->strides[k];
        }
        if (is_first) {
          strides[i] = stride;
          is_first = false;
        } else if (stride != reach) {
          return std::nullopt;
        }
        const std::int64_t taken = wanted % left == 0 ? left : left % wanted == 0 ? wanted : 0;
        if (taken == 0) return std::nullopt;
        reach = stride * taken;
        stride *= taken;
        left /= taken;
        wanted /= taken;
      }
    }
  } else {
    strides = view->strides;
  }
  view->strides = strides;
  return view;
}

Partition partition(const Program& program, const PartitionOptions& options) {
  return Partitioner(program, options).run();
}

}  // namespace hom::nest
