// core/primitives/indexing.cc -- reads and writes at static and computed positions
//
// A read transposes to a write that takes the accumulator as operand and adds into it, never to
// zeros plus an add.
#include <hom/core/operations/indexing.h>

#include <algorithm>

#include <hom/core/function.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

Bounds bounds_of(const Attributes& attributes) {
  const std::string& mode = attributes.string("mode");
  return mode == "check" ? Bounds::check : mode == "clip" ? Bounds::clip : Bounds::drop;
}

void require_one_of(const Typing& typing, const char* attribute,
                    std::initializer_list<const char*> values) {
  const std::string& value = typing.attributes.string(attribute);
  bool known = false;
  for (const char* candidate : values) known = known || value == candidate;
  typing.require(known, [&] {
    return Complaint{typing.primitive.name + ": unknown " + attribute + " \"" + value + "\""};
  });
}

void require_integer(const Typing& typing, const TensorType& indices) {
  typing.require(indices.dtype.is_integer(), [&] {
    return Complaint{
        typing.primitive.name + ": indices are " + to_string(indices) + ", not integers",
        "convert with astype(i64)"};
  });
}

/// The shape that gather gives, and that scatter's updates have.
TensorType gathered_type(const Typing& typing) {
  const TensorType& x = typing.operands[0];
  const TensorType& indices = typing.operands[1];
  const Shape& axes = typing.attributes.shape("axes");
  require_one_of(typing, "mode", {"check", "clip", "drop"});
  require_integer(typing, indices);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool fresh =
        !contains(Shape(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i)), axes[i]);
    typing.require(fresh && 0 <= axes[i] && axes[i] < x.rank(), [&] {
      return Complaint{typing.primitive.name + ": axes " + to_string(axes) +
                       " do not name different axes of " + to_string(x)};
    });
  }
  typing.require(
      indices.rank() >= 1 && indices.shape.back() == static_cast<std::int64_t>(axes.size()), [&] {
        return Complaint{typing.primitive.name + ": indices " + to_string(indices) +
                             " need a last axis of extent " + std::to_string(axes.size()) +
                             ", one coordinate for each of the axes " + to_string(axes),
                         "take() indexes along one axis"};
      });
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  for (std::int64_t axis : axes_without(x.shape.size(), axes))
    shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  return x.dtype[shape];
}

std::vector<TensorType> scatter_type(const Typing& typing) {
  const TensorType updates = gathered_type(typing);
  require_one_of(typing, "combine", {"set", "add", "mul", "min", "max"});
  typing.require(typing.operands[2] == updates, [&] {
    return Complaint{"scatter: updates are " + to_string(typing.operands[2]) + ", not " +
                     to_string(updates) + ", for indices " + to_string(typing.operands[1]) +
                     " into " + to_string(typing.operands[0])};
  });
  typing.require(typing.attributes.string("combine") == "set" || !updates.dtype.is_bool(),
                 [] { return Complaint{"scatter: bool elements combine by \"set\" only"}; });
  return {typing.operands[0]};
}

/// What reads and writes at the same places share.
struct Places {
  Tensor indices;
  Shape axes;
  Bounds bounds;

  Tensor read(const Tensor& x) const { return gather(x, indices, axes, bounds); }
  Tensor write(const Tensor& x, const Tensor& updates, Combine combine) const {
    return scatter(x, indices, updates, axes, combine, bounds);
  }
};

Places places_of(const Attributes& attributes, std::span<const Tensor> x) {
  return {x[1], attributes.shape("axes"), bounds_of(attributes)};
}

/// 1 for the update that stays when several set one element, else 0.
Tensor winners(const Places& places, const TensorType& x, const TensorType& updates) {
  const Tensor number = reshape(arange(updates.size()), updates.shape);
  const Tensor last = places.write(full(x.shape, -1, i64), number, Combine::set);
  return places.read(last) == number;
}

Tensor derivative_of_set(const Linearizing& at, const Places& places) {
  return places.write(tangent_or_zeros(at, 0), tangent_or_zeros(at, 2), Combine::set);
}

/// dy = Σ over everything that was combined into an element of coefficient · tangent.
Tensor weighted_sum(const Linearizing& at, const Places& places, const Tensor& in_x,
                    const Tensor& in_updates) {
  const Tensor own = at.dx[0].is_empty() ? zeros_like(at.x[0]) : scale(in_x, at.dx[0]);
  return at.dx[2].is_empty() ? own : places.write(own, scale(in_updates, at.dx[2]), Combine::add);
}

/// Ties of an extreme share the gradient equally.
Tensor derivative_of_extreme(const Linearizing& at, const Places& places) {
  const Dtype dtype = at.x[0].dtype();
  const Tensor wins = (at.x[0] == at.y[0]).astype(dtype);
  const Tensor update_wins = (at.x[2] == places.read(at.y[0])).astype(dtype);
  const Tensor count = places.write(wins, update_wins, Combine::add);
  return weighted_sum(at, places, wins / count, update_wins / places.read(count));
}

/// The product of the other factors of an element, right where factors are 0.
Tensor derivative_of_product(const Linearizing& at, const Places& places) {
  const Dtype dtype = at.x[0].dtype();
  const Tensor& x = at.x[0];
  const Tensor& updates = at.x[2];
  const Tensor nonzero =
      places.write(where(x == 0, 1, x), where(updates == 0, 1, updates), Combine::mul);
  const Tensor zero_count =
      places.write((x == 0).astype(dtype), (updates == 0).astype(dtype), Combine::add);
  const auto others = [](const Tensor& factor, const Tensor& product,
                         const Tensor& zeros_in_product) {
    const Tensor is_zero_itself = factor == 0;
    const Tensor rest = where(is_zero_itself, product, product / where(is_zero_itself, 1, factor));
    return where(zeros_in_product > is_zero_itself.astype(factor.dtype()), 0, rest);
  };
  return weighted_sum(at, places, others(x, nonzero, zero_count),
                      others(updates, places.read(nonzero), places.read(zero_count)));
}

std::vector<Tensor> derivative_of_scatter(const Linearizing& at) {
  const Places places = places_of(at.attributes, at.x);
  const std::string& combine = at.attributes.string("combine");
  if (combine == "set") return {derivative_of_set(at, places)};
  if (combine == "add")
    return {places.write(tangent_or_zeros(at, 0), tangent_or_zeros(at, 2), Combine::add)};
  if (combine == "mul") return {derivative_of_product(at, places)};
  return {derivative_of_extreme(at, places)};
}

void require_joint(const Transposing& at, std::size_t operand) {
  if (!at.linear[operand] && !is_zero(at.x[operand])) {
    at.not_linear("one operand does not depend on the input, so the result is only affine");
  }
}

void transpose_scatter(const Transposing& at) {
  const std::string& combine = at.attributes.string("combine");
  if (combine != "set" && combine != "add") at.not_linear("updates combine by " + combine);
  if (at.linear[1]) at.not_linear("the indices depend on the input");
  require_joint(at, 0);
  require_joint(at, 2);
  const Places places = places_of(at.attributes, at.x);
  if (at.linear[2]) {
    const Tensor read = gather(at.ct[0], places.indices, places.axes, places.bounds);
    at.add(2, combine == "add" ? read : where(winners(places, at.types[0], at.types[2]), read, 0));
  }
  if (at.linear[0])
    at.add(0,
           combine == "add" ? at.ct[0] : places.write(at.ct[0], zeros(at.types[2]), Combine::set));
}

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

bool checks(const Batching& at) { return at.attributes.string("mode") == "check"; }

/// Indices as they can count lanes too: narrow ones as i64, which holds what they hold.
Tensor wide(const Tensor& indices) {
  return indices.dtype() == u64 ? indices : indices.astype(i64);
}

/// Coordinates [n, …, k] with that of the lane in front: [n, …, 1 + k].
Tensor with_lane_coordinate(const Tensor& coordinates) {
  TensorType column = coordinates.type();
  column.shape.back() = 1;
  return concat({iota(column, 0), coordinates}, -1);
}

/// Indexed axes without elements have no place for dead lanes: there the step runs only where a
/// lane is alive.
std::vector<Tensor> if_any_is_alive(const Batching& at, const BatchRule& rule) {
  const auto run = [&](const std::vector<Tensor>& x) {
    const Tensor no_mask;
    return rule(with_operands(at, x, no_mask));
  };
  const auto skip = [&](const std::vector<Tensor>&) {
    const bool any = std::find(at.batched.begin(), at.batched.end(), true) != at.batched.end();
    TensorType type = at.result_types[0];
    if (any) type.shape = with_lanes(at.size, type.shape);
    return std::vector{zeros(type)};
  };
  return cond(any_of(at.alive), run, skip, std::vector<Tensor>(at.x.begin(), at.x.end()));
}

/// The rule of a read or write at indices, which spares dead lanes.
BatchRule sparing_indices(BatchRule rule) {
  return [rule = sparing(1, checks, std::move(rule))](const Batching& at) {
    bool empty = false;
    for (std::int64_t axis : at.attributes.shape("axes"))
      empty = empty || at.types[0].shape[static_cast<std::size_t>(axis)] == 0;
    return empty && checks(at) && !at.alive.is_empty() ? if_any_is_alive(at, rule) : rule(at);
  };
}

std::vector<Tensor> batch_gather(const Batching& at) {
  const Shape& axes = at.attributes.shape("axes");
  if (!at.batched[0]) return applied(at, at.x);
  if (at.batched[1]) {
    const Tensor places = with_lane_coordinate(wide(at.x[1]));
    return applied(at, with(at, "axes", {with_lanes(0, past_lanes(axes))}),
                   std::vector{at.x[0], places});
  }
  // The lanes are the first of the axes that are not indexed.
  const std::vector<Tensor> y = applied(at, with(at, "axes", {past_lanes(axes)}), at.x);
  return {move_axis(y[0], at.types[1].rank() - 1, 0)};
}

std::vector<Tensor> batch_scatter(const Batching& at) {
  const Shape axes = past_lanes(at.attributes.shape("axes"));
  const Tensor x = at.lifted(0);
  const Tensor updates = at.lifted(2);
  if (at.batched[1]) {
    return applied(at, with(at, "axes", {with_lanes(0, axes)}),
                   std::vector{x, with_lane_coordinate(wide(at.x[1])), updates});
  }
  return applied(at, with(at, "axes", {axes}),
                 std::vector{x, at.x[1], move_axis(updates, 0, at.types[1].rank() - 1)});
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

/// `start`, integer [n, rank], is checked or moved inside here, by a lookup among the places where
/// a window may start.
LaneWindows lane_windows(const Batching& at, const Tensor& start, const Shape& extents,
                         const Shape& size) {
  const Bounds bounds = bounds_of(at.attributes);
  LaneWindows windows;
  std::vector<Tensor> starts;
  Tensor none;  // what lookups along axes that the window fills give: 0, or an error
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    const std::int64_t last = extents[axis] - size[axis];
    if (last == 0 && bounds == Bounds::clip) continue;
    const Tensor given =
        start(all, Range{static_cast<std::int64_t>(axis), static_cast<std::int64_t>(axis) + 1});
    const Tensor found = gather(arange(last + 1), given, {0}, bounds);
    if (last == 0) {
      none = none.is_empty() ? found : none + found;
    } else {
      starts.push_back(found);
      windows.axes.push_back(static_cast<std::int64_t>(axis));
    }
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

void add_indexing_primitives(PrimitiveTable& table) {
  const AttributeSpec axes{"axes", Kind::shape};
  const AttributeSpec mode{"mode", Kind::string};
  const AttributeSpec combine{"combine", Kind::string};
  table.add(
      {.name = "gather",
       .min_operands = 2,
       .max_operands = 2,
       .attributes = {axes, mode},
       .type = [](const Typing& typing) { return std::vector{gathered_type(typing)}; },
       .derivative = linear_in(1),
       .transpose =
           [](const Transposing& at) {
             if (at.linear[1]) at.not_linear("the indices depend on the input");
             at.accumulators[0] =
                 places_of(at.attributes, at.x).write(at.accumulator(0), at.ct[0], Combine::add);
           },
       .batch = sparing_indices(batch_gather),
       .partial = true,
       .cost_factor = 6,
       .shapes = "s, integer […, k] → […] + s without axes",
       .formula = "gather dx"});
  table.add(
      {.name = "scatter",
       .min_operands = 3,
       .max_operands = 3,
       .attributes = {axes, combine, mode},
       .type = scatter_type,
       .derivative = derivative_of_scatter,
       .transpose = transpose_scatter,
       .batch = sparing_indices(batch_scatter),
       .partial = true,
       .cost_factor = 30,
       .shapes = "s, integer […, k], […] + s without axes → s",
       .formula = "set, add: scatter dx; mul: product of the others; min, max: shared among ties"});
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
