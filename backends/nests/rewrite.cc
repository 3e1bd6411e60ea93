// backends/nests/rewrite.cc -- merging axes, and rebuilding values
#include <hom/backends/nests/rewrite.h>

#include <algorithm>

namespace hom::nest {
namespace {

bool is_sum(const Node& node) {
  return node.kind == Node::Kind::index_add || node.kind == Node::Kind::index_scale;
}

bool is_index(const Node& node) {
  return is_sum(node) || node.kind == Node::Kind::axis || node.kind == Node::Kind::index_quotient ||
         node.kind == Node::Kind::index_remainder;
}

/// Whole indices: those that are not part of a sum.
std::vector<Value> index_roots(const Draft& draft) {
  std::vector<Value> roots;
  for (Value value = 0; value < draft.values.size(); ++value) {
    const Node& node = draft.values[value];
    if (is_sum(node)) continue;
    for (Value operand : node.operands) {
      if (is_index(draft.values[operand])) roots.push_back(operand);
    }
  }
  for (const Goal& goal : draft.goals) {
    if (const auto* store = std::get_if<Store>(&goal.is)) {
      roots.push_back(store->index);
      roots.push_back(store->value);
    } else {
      roots.push_back(std::get<Check>(goal.is).offending);
    }
  }
  for (const PendingReduction& r : draft.reductions) roots.push_back(r.term);
  return roots;
}

/// Whether every index steps along `outer` as along `inner` gone past its end.
bool steps_as_one(const Draft& draft, const std::vector<Value>& roots, Axis outer, Axis inner) {
  for (Value root : roots) {
    if (!is_index(draft.values[root])) continue;
    if ((draft.values.axes(root) & (axis_bit(outer) | axis_bit(inner))) == 0) continue;
    const auto far = stride_along(draft.values, root, outer);
    const auto near = stride_along(draft.values, root, inner);
    if (!far || !near || *far != *near * draft.extents[inner]) return false;
  }
  return true;
}

/// Whether every reduction over one of the axes is over both, in this order.
bool are_reduced_together(const Draft& draft, Axis outer, Axis inner) {
  for (const PendingReduction& r : draft.reductions) {
    const auto first = std::find(r.along.begin(), r.along.end(), outer);
    const auto second = std::find(r.along.begin(), r.along.end(), inner);
    if (first == r.along.end() && second == r.along.end()) continue;
    if (first == r.along.end() || first + 1 != second) return false;
  }
  return true;
}

/// The draft with position 0 for the axes that are gone, and only the values that are needed.
Draft rebuilt(Draft draft, const std::vector<bool>& is_gone) {
  const Values& old = draft.values;
  std::vector<bool> needed(old.size(), false);
  const auto need = [&](Value value) { needed[value] = true; };
  for (const Goal& goal : draft.goals) {
    if (const auto* store = std::get_if<Store>(&goal.is)) {
      need(store->index);
      need(store->value);
      if (store->when) need(*store->when);
    } else {
      need(std::get<Check>(goal.is).ok);
      need(std::get<Check>(goal.is).offending);
    }
  }
  for (const PendingReduction& r : draft.reductions) {
    need(r.term);
    need(r.result);
  }
  if (draft.carries) {
    for (const Carry& carry : draft.carries->carries) {
      need(carry.state);
      need(carry.initial);
      need(carry.next);
    }
  }
  for (Value value = static_cast<Value>(old.size()); value-- > 0;) {
    if (!needed[value]) continue;
    for (Value operand : old[value].operands) need(operand);
  }
  Values fresh;
  std::vector<Value> renamed(old.size(), 0);
  AxisSet gone = 0;
  for (Axis axis = 0; axis < is_gone.size(); ++axis) {
    if (is_gone[axis]) gone |= axis_bit(axis);
  }
  for (Value value = 0; value < old.size(); ++value) {
    if (!needed[value]) continue;
    const Node& node = old[value];
    SmallVector<Value, 3> x;
    for (Value operand : node.operands) x.push_back(renamed[operand]);
    Value& to = renamed[value];
    switch (node.kind) {
      case Node::Kind::axis: {
        const auto axis = static_cast<Axis>(node.number);
        to = is_gone[axis] ? fresh.position(0) : fresh.axis(axis, draft.extents[axis]);
        break;
      }
      case Node::Kind::index_add:
        to = fresh.add(x[0], x[1]);
        break;
      case Node::Kind::index_scale:
        to = fresh.scale(x[0], node.number);
        break;
      case Node::Kind::index_quotient:
        to = fresh.quotient(x[0], node.number);
        break;
      case Node::Kind::index_remainder:
        to = fresh.remainder(x[0], node.number);
        break;
      default:
        to = fresh.copy(node, x, old.axes(value) & ~gone);
        break;
    }
    fresh.keep_bounds(to, old, value);
  }
  const auto rename = [&](Value& value) { value = renamed[value]; };
  for (Goal& goal : draft.goals) {
    if (auto* store = std::get_if<Store>(&goal.is)) {
      rename(store->index);
      rename(store->value);
      if (store->when) rename(*store->when);
    } else {
      rename(std::get<Check>(goal.is).ok);
      rename(std::get<Check>(goal.is).offending);
    }
  }
  const auto remove = [&](SmallVector<Axis, 4>& axes) {
    SmallVector<Axis, 4> left;
    for (Axis axis : axes) {
      if (!is_gone[axis]) left.push_back(axis);
    }
    axes = left;
  };
  for (PendingReduction& r : draft.reductions) {
    rename(r.term);
    rename(r.result);
    remove(r.along);
  }
  for (LoopNode& loop : draft.loops) remove(loop.axes);
  if (draft.carries) {
    for (Carry& carry : draft.carries->carries) {
      rename(carry.state);
      rename(carry.initial);
      rename(carry.next);
    }
  }
  draft.values = std::move(fresh);
  return draft;
}

}  // namespace

std::optional<std::int64_t> stride_along(const Values& values, Value index, Axis axis) {
  if ((values.axes(index) & axis_bit(axis)) == 0) return 0;
  const Node& node = values[index];
  switch (node.kind) {
    case Node::Kind::axis:
      return 1;
    case Node::Kind::index_add: {
      const auto left = stride_along(values, node.operands[0], axis);
      const auto right = stride_along(values, node.operands[1], axis);
      return left && right ? std::optional(*left + *right) : std::nullopt;
    }
    case Node::Kind::index_scale: {
      const auto inner = stride_along(values, node.operands[0], axis);
      return inner ? std::optional(*inner * node.number) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Draft with_merged_axes(Draft draft) {
  std::vector<bool> is_gone(draft.extents.size(), false);
  const std::vector<Value> roots = index_roots(draft);
  for (LoopNode& loop : draft.loops) {
    for (std::size_t i = loop.axes.size(); i-- > 1;) {
      const Axis outer = loop.axes[i - 1];
      const Axis inner = loop.axes[i];
      if (draft.carries && (draft.carries->axis == outer || draft.carries->axis == inner)) continue;
      if (!are_reduced_together(draft, outer, inner) || !steps_as_one(draft, roots, outer, inner)) {
        continue;
      }
      // `outer` goes; its positions are further ones of `inner`, which takes its place.
      draft.extents[inner] *= draft.extents[outer];
      is_gone[outer] = true;
      for (PendingReduction& r : draft.reductions) {
        const auto found = std::find(r.along.begin(), r.along.end(), outer);
        if (found != r.along.end()) r.along.erase(found);
      }
      loop.axes.erase(loop.axes.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
  }
  return rebuilt(std::move(draft), is_gone);
}

}  // namespace hom::nest
