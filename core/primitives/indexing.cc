// core/primitives/indexing.cc -- gather and scatter: reads and writes at computed positions
//
// A read transposes to a write that takes the accumulator as operand and adds into it, never to
// zeros plus an add.
#include <hom/core/operations/indexing.h>

#include <algorithm>

#include <hom/core/function.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/positions.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

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

/// bool […, 1…]: which of a few positions, shaped as `updates`, none behind it repeats.
Tensor last_of_few(const Places& places, const TensorType& x, const TensorType& updates) {
  const Shape shape = places.indices.shape();
  const std::int64_t k = shape.back();
  const std::int64_t m = element_count(shape) / std::max<std::int64_t>(k, 1);
  Tensor position = reshape(places.indices, {m, k});
  if (places.bounds == Bounds::clip) {
    std::vector<Tensor> ends;
    for (std::int64_t axis : places.axes)
      ends.push_back(full({}, x.shape[static_cast<std::size_t>(axis)] - 1, position.dtype()));
    position = clamp(position, 0, stack(ends));
  }
  const Tensor same = all_of(expand_dims(position, 1) == expand_dims(position, 0), 2);
  const Tensor number = arange(m);
  const Tensor repeated = any_of(same & (expand_dims(number, 1) < number), 1);
  Shape column(shape.begin(), shape.end() - 1);
  column.resize(updates.shape.size(), 1);
  return reshape(!repeated, column);
}

/// true for the update that stays when several set one element; of updates' shape, or broadcasting
/// to it. Few positions are compared with each other, so that they cost nothing of the size of x.
Tensor winners(const Places& places, const TensorType& x, const TensorType& updates) {
  const std::int64_t k = places.indices.shape().back();
  const std::int64_t m = element_count(places.indices.shape()) / std::max<std::int64_t>(k, 1);
  if (k > 0 && m <= 64 && m * m * k < x.size()) return last_of_few(places, x, updates);
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

/// Indices as they can count lanes too: narrow ones as i64, which holds what they hold.
Tensor wide(const Tensor& indices) {
  return indices.dtype() == u64 ? indices : indices.astype(i64);
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
}

}  // namespace hom
