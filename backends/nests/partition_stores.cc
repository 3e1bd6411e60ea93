// backends/nests/partition_stores.cc -- where what is wanted in memory is stored
#include <algorithm>

#include <hom/backends/nests/partitioner.h>
#include <hom/core/primitive.h>

namespace hom::nest {

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

}  // namespace hom::nest
