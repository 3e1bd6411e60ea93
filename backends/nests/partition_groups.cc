// backends/nests/partition_groups.cc -- which steps can run in the loops of a group
#include <algorithm>

#include <hom/backends/nests/partitioner.h>
#include <hom/core/primitive.h>

namespace hom::nest {
namespace {

/// A group whose loops are not one loop cannot be split among threads, so large ones stay apart.
constexpr std::int64_t large_loop = 1 << 15;
/// Rows that do not lie in memory are reduced beside their producer only while they are cheap.
constexpr std::int64_t small_loop = 1 << 12;
/// Loops may run across rows of memory beneath a loop along them while they have so few positions.
constexpr std::int64_t short_loop = 16;
/// So many slots that a group reads are kept in mind.
constexpr std::size_t most_reads = 64;
/// Splitting an axis renames it in all members.
constexpr std::size_t most_renamed = 256;
/// Whether constants stand where the other index is unrolled, and all else is equal.
bool is_instance(const Index& one, const Index& of) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    const bool is_position =
        of[i].kind == Entry::Kind::unrolled && one[i].kind == Entry::Kind::constant;
    if (!is_position && !(one[i] == of[i])) return false;
  }
  return true;
}

}  // namespace

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
  // Two operands may show one axis as two of the domain, which needs all pairs of its positions.
  AxisSet seen = 0;
  for (const Entry& entry : domain) {
    for (const Axis axis : entry.axes) {
      if ((seen & axis_bit(axis)) != 0) return false;
      seen |= axis_bit(axis);
    }
  }
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

}  // namespace hom::nest
