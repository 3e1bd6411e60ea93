// backends/nests/partition.cc -- steps in order, each into a group that it fits or one of its own
#include <hom/backends/nests/partition.h>

#include <algorithm>

#include <hom/backends/nests/partitioner.h>
#include <hom/core/primitive.h>

namespace hom::nest {
namespace {

/// Views are followed so deep, and to so many slots.
constexpr std::uint32_t deepest_view = 24;
constexpr std::size_t most_bases = 8;
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

}  // namespace

// ---- what is known beforehand ----

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

// ---- where slots are ----

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

// ---- steps ----

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

Partition partition(const Program& program, const PartitionOptions& options) {
  return Partitioner(program, options).run();
}

}  // namespace hom::nest
