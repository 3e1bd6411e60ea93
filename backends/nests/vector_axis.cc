// backends/nests/vector_axis.cc -- strides, weighted
#include <hom/backends/nests/vector_axis.h>

#include <algorithm>

#include <hom/backends/nests/rewrite.h>

namespace hom::nest {
namespace {

/// Positions of the loops inside the vectorised one, at most, so that what lies between their
/// elements in memory stays in the cache; and how much less work that has to be.
constexpr std::int64_t longest_inside = 64;
constexpr double worthwhile = 1.25;

/// Whether a store may meet one element again in other iterations along the axis.
bool meets_again(const Draft& draft, const Store& store, Axis axis) {
  const auto stride = stride_along(draft.values, store.index, axis);
  return !stride || *stride == 0;
}

/// Whether some store would meet its elements in another order if the axis came last.
bool orders_stores(const Draft& draft, Axis axis) {
  for (const Goal& goal : draft.goals) {
    const auto* store = std::get_if<Store>(&goal.is);
    if (store == nullptr || !meets_again(draft, *store, axis)) continue;
    const SmallVector<Axis, 4>& axes = draft.loops[goal.loop].axes;
    const auto found = std::find(axes.begin(), axes.end(), axis);
    if (found == axes.end()) continue;
    if (std::any_of(found + 1, axes.end(),
                    [&](Axis later) { return meets_again(draft, *store, later); })) {
      return true;
    }
  }
  return false;
}

/// Whether every loop along the axis may have it as its last one.
bool may_be_last(const Draft& draft, Axis axis) {
  if (draft.carries && draft.carries->axis == axis) return false;
  if (orders_stores(draft, axis)) return false;
  for (const PendingReduction& r : draft.reductions) {
    const auto found = std::find(r.along.begin(), r.along.end(), axis);
    if (found == r.along.end()) continue;
    if (r.combine == Combine::argmax || r.combine == Combine::argmin) return false;
    if (found + 1 != r.along.end()) return false;
  }
  // A loop of several axes that ends a reduction keeps their order.
  for (const LoopNode& loop : draft.loops) {
    const auto found = std::find(loop.axes.begin(), loop.axes.end(), axis);
    if (found == loop.axes.end() || found + 1 == loop.axes.end()) continue;
    for (const PendingReduction& r : draft.reductions) {
      if (std::find(r.along.begin(), r.along.end(), axis) != r.along.end()) return false;
    }
  }
  return true;
}

double benefit(const Draft& draft, Axis axis) {
  const std::int64_t extent = draft.extents[axis];
  if (extent < 4) return -1;
  const auto executions = [&](AxisSet axes) {
    double count = 1;
    for (Axis a = 0; a < draft.extents.size(); ++a) {
      if ((axes & axis_bit(a)) != 0) count *= static_cast<double>(draft.extents[a]);
    }
    return count;
  };
  double total = 0;
  const auto access = [&](Value index, bool is_store) {
    const auto stride = stride_along(draft.values, index, axis);
    if (stride == 1) return is_store ? 1.5 : 1.0;
    if (stride == 0) return is_store ? -1.0 : 0.25;
    return -1.0;
  };
  for (Value value = 0; value < draft.values.size(); ++value) {
    const AxisSet axes = draft.values.axes(value);
    if ((axes & axis_bit(axis)) == 0) continue;
    const Node& n = draft.values[value];
    if (n.kind == Node::Kind::load) {
      total += executions(axes) * access(n.operands[0], false);
    } else if (n.kind == Node::Kind::apply && n.dtype != i64) {
      total += executions(axes) * 0.5;
    }
  }
  for (const Goal& goal : draft.goals) {
    const auto* store = std::get_if<Store>(&goal.is);
    if (store == nullptr) continue;
    const AxisSet axes = path_of(draft.loops, goal.loop);
    if ((axes & axis_bit(axis)) != 0) total += executions(axes) * access(store->index, true);
  }
  // Short loops are mostly remainder.
  return extent < 8 ? total / 4 : total;
}

/// What loops in this order compute and load along their axes, weighted: a value is computed in the
/// innermost loop that it depends on.
double work_in(const Draft& draft, const SmallVector<Axis, 4>& order, Axis vector_axis) {
  double work = 0;
  for (Value value = 0; value < draft.values.size(); ++value) {
    const Node& node = draft.values[value];
    double cost = 0;
    if (node.kind == Node::Kind::apply && node.dtype != i64) cost = 1;
    if (node.kind == Node::Kind::load) {
      const auto stride = stride_along(draft.values, node.operands[0], vector_axis);
      // Elements that do not lie together are loaded one by one.
      cost = stride && (*stride == 0 || *stride == 1) ? 1 : 8;
    }
    if (cost == 0) continue;
    double count = 1;
    double executions = 0;
    for (Axis axis : order) {
      count *= static_cast<double>(draft.extents[axis]);
      if ((draft.values.axes(value) & axis_bit(axis)) != 0) executions = count;
    }
    work += cost * executions;
  }
  return work;
}

/// Whether the axis may be the outermost of its loop, with the others inside: they are short, end
/// no reduction, and no store meets an element again in another order.
bool may_be_first(const Draft& draft, const LoopNode& loop, Axis axis) {
  std::int64_t inside = 1;
  for (Axis other : loop.axes) {
    if (other != axis) inside *= draft.extents[other];
  }
  if (loop.axes.size() < 2 || inside > longest_inside) return false;
  const auto is_here = [&](Axis one) {
    return std::find(loop.axes.begin(), loop.axes.end(), one) != loop.axes.end();
  };
  for (const PendingReduction& r : draft.reductions) {
    if (std::any_of(r.along.begin(), r.along.end(), is_here)) return false;
  }
  for (const Goal& goal : draft.goals) {
    const auto* store = std::get_if<Store>(&goal.is);
    if (store != nullptr && meets_again(draft, *store, axis)) return false;
  }
  return true;
}

}  // namespace

AxisSet path_of(const std::vector<LoopNode>& loops, std::size_t loop) {
  AxisSet axes = 0;
  for (int n = static_cast<int>(loop); n >= 0; n = loops[static_cast<std::size_t>(n)].parent) {
    for (Axis axis : loops[static_cast<std::size_t>(n)].axes) axes |= axis_bit(axis);
  }
  return axes;
}

std::optional<Axis> choose_vector_axis(Draft& draft) {
  double best = 0;
  std::optional<Axis> chosen;
  for (const LoopNode& loop : draft.loops) {
    for (Axis axis : loop.axes) {
      if (draft.extents[axis] < 2 || !may_be_last(draft, axis)) continue;
      const double score = benefit(draft, axis);
      if (score <= best) continue;
      best = score;
      chosen = axis;
    }
  }
  if (!chosen) return chosen;
  for (LoopNode& loop : draft.loops) {
    const auto found = std::find(loop.axes.begin(), loop.axes.end(), *chosen);
    if (found == loop.axes.end()) continue;
    std::rotate(found, found + 1, loop.axes.end());
    SmallVector<Axis, 4> outermost{*chosen};
    outermost.insert(outermost.end(), loop.axes.begin(), loop.axes.end() - 1);
    if (may_be_first(draft, loop, *chosen) &&
        work_in(draft, outermost, *chosen) * worthwhile < work_in(draft, loop.axes, *chosen)) {
      loop.axes = outermost;
    }
  }
  return chosen;
}

}  // namespace hom::nest
