// core/primitives/windows.cc -- windows of a tensor, read and written at static and computed places
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/positions.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

void require_window(const Typing& typing, const TensorType& x, const Shape& size,
                    const TensorType& start) {
  require_integer(typing, start);
  typing.require(start.shape == Shape{x.rank()}, [&] {
    return Complaint{typing.primitive.name + ": the start " + to_string(start) +
                     " needs one coordinate for each axis of " + to_string(x)};
  });
  bool fits = size.size() == x.shape.size();
  for (std::size_t i = 0; fits && i < size.size(); ++i)
    fits = 0 <= size[i] && size[i] <= x.shape[i];
  typing.require(fits, [&] {
    return Complaint{typing.primitive.name + ": a window " + to_string(size) +
                     " does not fit into " + to_string(x)};
  });
}

std::vector<TensorType> dynamic_slice_type(const Typing& typing) {
  require_one_of(typing, "mode", {"check", "clip"});
  require_window(typing, typing.operands[0], typing.attributes.shape("size"), typing.operands[1]);
  return {typing.operands[0].dtype[typing.attributes.shape("size")]};
}

void require_same_dtype(const Typing& typing) {
  typing.require(typing.operands[0].dtype == typing.operands[1].dtype, [&] {
    return Complaint{typing.primitive.name + ": the update's dtype differs: " +
                     to_string(typing.operands[0]) + " and " + to_string(typing.operands[1])};
  });
  require_one_of(typing, "combine", {"set", "add"});
  typing.require(
      typing.attributes.string("combine") == "set" || !typing.operands[0].dtype.is_bool(),
      [&] { return Complaint{typing.primitive.name + ": bool elements combine by \"set\" only"}; });
}

std::vector<TensorType> dynamic_update_type(const Typing& typing) {
  require_same_dtype(typing);
  require_one_of(typing, "mode", {"check", "clip"});
  require_window(typing, typing.operands[0], typing.operands[1].shape, typing.operands[2]);
  return {typing.operands[0]};
}

Combine combine_of(const Attributes& attributes) {
  return attributes.string("combine") == "add" ? Combine::add : Combine::set;
}

std::vector<TensorType> update_slice_type(const Typing& typing) {
  require_same_dtype(typing);
  const TensorType& x = typing.operands[0];
  const Shape& size = typing.operands[1].shape;
  const Shape& start = typing.attributes.shape("start");
  const Shape& step = typing.attributes.shape("step");
  bool inside =
      size.size() == x.shape.size() && start.size() == size.size() && step.size() == size.size();
  for (std::size_t i = 0; inside && i < size.size(); ++i) {
    inside = is_inside(start[i], size[i], step[i], x.shape[i]);
  }
  typing.require(inside, [&] {
    return Complaint{"update_slice: an update " + to_string(typing.operands[1]) + " at start " +
                     to_string(start) + ", step " + to_string(step) + " leaves " + to_string(x)};
  });
  return {x};
}

/// Shared by both window updates: y = x with the window set to u, or u added to it.
void transpose_update(const Transposing& at, const Tensor& window_of_ct,
                      const std::function<Tensor(const Tensor&)>& with_window_zero) {
  require_joint(at, 0);
  require_joint(at, 1);
  if (at.linear[1]) at.add(1, window_of_ct);
  if (at.linear[0])
    at.add(0, combine_of(at.attributes) == Combine::add ? at.ct[0] : with_window_zero(at.ct[0]));
}

/// Windows that start elsewhere in each lane, as indices of single slices.
struct LaneWindows {
  /// The axes of one lane along which a window can move.
  Shape axes;
  /// i64 [n, extents of the window along these axes…, axes]
  Tensor places;
  /// Where the axes of a lane are in what is read there.
  Shape order;
};

/// i64[] 0, or the error of the step on one lane, which names it and its axes: its windows at the
/// least and the greatest of the starts, integer [n, rank], along each axis.
Tensor checked_on_one_lane(const Batching& at, const Tensor& start) {
  std::vector<Tensor> lane;
  for (std::size_t i = 0; i + 1 < at.types.size(); ++i) lane.push_back(zeros(at.types[i]));
  lane.push_back(min(start, 0));
  const Tensor least = applied(at, lane)[0];
  lane.back() = max(start, 0);
  const Tensor greatest = applied(at, lane)[0];
  return any_of(least.astype(bool_) || greatest.astype(bool_)).astype(i64);
}

/// `start`, integer [n, rank], is checked or moved inside here, by a lookup among the places where
/// a window may start.
LaneWindows lane_windows(const Batching& at, const Tensor& start, const Shape& extents,
                         const Shape& size) {
  LaneWindows windows;
  std::vector<Tensor> starts;
  Tensor none;
  if (checks(at) && at.size > 0) none = zeros({at.size}, i64) + checked_on_one_lane(at, start);
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    const std::int64_t last = extents[axis] - size[axis];
    if (last == 0) continue;
    const Tensor given =
        start(all, Range{static_cast<std::int64_t>(axis), static_cast<std::int64_t>(axis) + 1});
    starts.push_back(gather(arange(last + 1), given, {0}, Bounds::clip));
    windows.axes.push_back(static_cast<std::int64_t>(axis));
  }
  if (windows.axes.empty()) {
    windows.axes = {0};
    starts = {none.is_empty() ? zeros({at.size}, i64) : none};
  } else if (!none.is_empty()) {
    starts[0] = starts[0] + none;
  }
  TensorType grid = i64[{at.size}];
  for (std::int64_t axis : windows.axes) grid.shape.push_back(size[static_cast<std::size_t>(axis)]);
  const std::int64_t moving = signed_size(windows.axes);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts[i] = lane_column(starts[i], moving) + iota(grid, static_cast<std::int64_t>(i) + 1);
  }
  windows.places = stack(starts, -1);
  windows.order = windows.axes;
  for (std::int64_t axis : axes_without(size.size(), windows.axes)) windows.order.push_back(axis);
  return windows;
}

/// One start for all lanes, with a coordinate for the lanes too.
Tensor start_past_lanes(const Tensor& start) {
  return concat({zeros({1}, start.dtype()), start}, 0);
}

std::vector<Tensor> batch_dynamic_slice(const Batching& at) {
  const Shape& size = at.attributes.shape("size");
  if (!at.batched[1]) {
    return applied(at, with(at, "size", {with_lanes(at.size, size)}),
                   std::vector{at.x[0], start_past_lanes(at.x[1])});
  }
  if (size.empty()) return {at.lifted(0)};
  const LaneWindows windows = lane_windows(at, at.x[1], at.types[0].shape, size);
  const Tensor read = at.batched[0] ? gather(at.x[0], with_lane_coordinate(windows.places),
                                             with_lanes(0, past_lanes(windows.axes)), Bounds::clip)
                                    : gather(at.x[0], windows.places, windows.axes, Bounds::clip);
  return {transpose(read, with_lanes(0, past_lanes(inverse(windows.order))))};
}

std::vector<Tensor> batch_dynamic_update_slice(const Batching& at) {
  const Tensor x = at.lifted(0);
  const Tensor update = at.lifted(1);
  if (!at.batched[2]) return applied(at, std::vector{x, update, start_past_lanes(at.x[2])});
  const Combine combine = combine_of(at.attributes);
  const Shape& size = at.types[1].shape;
  if (size.empty()) return {combine == Combine::add ? x + update : update};
  const LaneWindows windows = lane_windows(at, at.x[2], at.types[0].shape, size);
  return {scatter(x, with_lane_coordinate(windows.places),
                  transpose(update, with_lanes(0, past_lanes(windows.order))),
                  with_lanes(0, past_lanes(windows.axes)), combine, Bounds::clip)};
}

}  // namespace

void add_window_primitives(PrimitiveTable& table) {
  const AttributeSpec mode{"mode", Kind::string};
  const AttributeSpec combine{"combine", Kind::string};
  table.add({.name = "dynamic_slice",
             .min_operands = 2,
             .max_operands = 2,
             .attributes = {{"size", Kind::shape}, mode},
             .type = dynamic_slice_type,
             .derivative = linear_in(1),
             .transpose =
                 [](const Transposing& at) {
                   if (at.linear[1]) at.not_linear("the start depends on the input");
                   at.accumulators[0] =
                       dynamic_update_slice(at.accumulator(0), at.ct[0], at.x[1], Combine::add,
                                            bounds_of(at.attributes));
                 },
             .batch = sparing(1, checks, batch_dynamic_slice),
             .partial = true,
             .cost_factor = 6,
             .shapes = "s, integer [rank] → size",
             .formula = "dynamic_slice dx"});
  table.add({.name = "dynamic_update_slice",
             .min_operands = 3,
             .max_operands = 3,
             .attributes = {combine, mode},
             .type = dynamic_update_type,
             .derivative = linear_in(2),
             .transpose =
                 [](const Transposing& at) {
                   if (at.linear[2]) at.not_linear("the start depends on the input");
                   const Bounds bounds = bounds_of(at.attributes);
                   transpose_update(at, dynamic_slice(at.ct[0], at.x[2], at.types[1].shape, bounds),
                                    [&](const Tensor& ct) {
                                      return dynamic_update_slice(ct, zeros(at.types[1]), at.x[2],
                                                                  Combine::set, bounds);
                                    });
                 },
             .batch = sparing(2, checks, batch_dynamic_update_slice),
             .partial = true,
             .cost_factor = 8,
             .shapes = "s, window, integer [rank] → s",
             .formula = "dynamic_update_slice dx"});
  table.add({.name = "update_slice",
             .min_operands = 2,
             .max_operands = 2,
             .attributes = {{"start", Kind::shape}, {"step", Kind::shape}, combine},
             .type = update_slice_type,
             .derivative = linear_in(2),
             .transpose =
                 [](const Transposing& at) {
                   const Shape& start = at.attributes.shape("start");
                   const Shape& step = at.attributes.shape("step");
                   transpose_update(
                       at, slice(at.ct[0], start, at.types[1].shape, step), [&](const Tensor& ct) {
                         return update_slice(ct, zeros(at.types[1]), start, step, Combine::set);
                       });
                 },
             .batch =
                 [](const Batching& at) {
                   Attributes attributes =
                       with(at, "start", {with_lanes(0, at.attributes.shape("start"))});
                   attributes.set("step", {with_lanes(1, at.attributes.shape("step"))});
                   return applied(at, attributes, all_lifted(at));
                 },
             .cost_factor = 8,
             .shapes = "s, window → s",
             .formula = "update_slice dx"});
}

}  // namespace hom
