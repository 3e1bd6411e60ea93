// core/primitives/shape.cc -- views and rearrangements: all linear, each beside its transpose
#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/indexing.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

void require_length(const Typing& typing, const char* attribute, std::size_t rank) {
  const Shape& list = typing.attributes.shape(attribute);
  typing.require(list.size() == rank, [&] {
    return Complaint{typing.primitive.name + ": " + attribute + " " + to_string(list) +
                     " needs one entry for each axis of " + to_string(typing.operands[0])};
  });
}

std::vector<TensorType> broadcast_type(const Typing& typing) {
  const TensorType& x = typing.operands[0];
  const Shape& shape = typing.attributes.shape("shape");
  const Shape& axes = typing.attributes.shape("axes");
  require_length(typing, "axes", x.shape.size());
  std::int64_t previous = -1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool inside = previous < axes[i] && axes[i] < static_cast<std::int64_t>(shape.size());
    const bool fits =
        inside && (x.shape[i] == 1 || x.shape[i] == shape[static_cast<std::size_t>(axes[i])]);
    typing.require(fits, [&] {
      return Complaint{"broadcast_in_dim: " + to_string(x) + " does not fit " + to_string(shape) +
                           " along axes " + to_string(axes),
                       "axes ascend, and an extent is 1 or that of the result"};
    });
    previous = axes[i];
  }
  typing.require(
      std::all_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent >= 0; }),
      [&] {
        return Complaint{"broadcast_in_dim: shape " + to_string(shape) + " has a negative extent"};
      });
  return {x.dtype[shape]};
}

void transpose_broadcast(const Transposing& at) {
  const Shape& axes = at.attributes.shape("axes");
  const Shape& shape = at.types[0].shape;
  const Shape& whole = at.attributes.shape("shape");
  Shape repeated;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(whole.size()); ++axis) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    const bool kept =
        found != axes.end() && shape[static_cast<std::size_t>(found - axes.begin())] ==
                                   whole[static_cast<std::size_t>(axis)];
    if (!kept) repeated.push_back(axis);
  }
  at.add(0, reshape(sum(at.ct[0], Axes(repeated)), shape));
}

std::vector<TensorType> reshape_type(const Typing& typing) {
  const TensorType& x = typing.operands[0];
  const Shape& shape = typing.attributes.shape("shape");
  const bool valid =
      std::all_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent >= 0; });
  typing.require(valid && element_count(shape) == x.size(), [&] {
    return Complaint{"reshape: " + to_string(x) + " has " + std::to_string(x.size()) +
                         " elements, " + to_string(shape) + " has " +
                         std::to_string(element_count(shape)),
                     "one extent may be −1, to be computed"};
  });
  return {x.dtype[shape]};
}

std::vector<TensorType> transpose_type(const Typing& typing) {
  const TensorType& x = typing.operands[0];
  const Shape& permutation = typing.attributes.shape("permutation");
  require_length(typing, "permutation", x.shape.size());
  Shape sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  typing.require(sorted == iota_shape(x.shape.size()), [&] {
    return Complaint{"transpose: " + to_string(permutation) + " does not permute the axes of " +
                     to_string(x)};
  });
  Shape shape;
  for (std::int64_t axis : permutation) shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  return {x.dtype[shape]};
}

Shape composed(const Shape& outer, const Shape& inner) {
  Shape result;
  for (std::int64_t axis : outer) result.push_back(inner[static_cast<std::size_t>(axis)]);
  return result;
}

/// The literal with the result's shape, for primitives that only move elements.
std::optional<Slot> moved_literal(const Simplifying& at) {
  const Attribute* value = at.builder.literal(at.operands[0]);
  return value ? std::optional(at.literal(*value)) : std::nullopt;
}

std::optional<Slot> simplify_broadcast(const Simplifying& at) {
  if (at.builder.type(at.operands[0]) == at.result) return at.operands[0];
  return moved_literal(at);
}

std::optional<Slot> simplify_reshape(const Simplifying& at) {
  if (at.builder.type(at.operands[0]) == at.result) return at.operands[0];
  if (const auto inner = operand_of(at.builder, at.operands[0], "reshape")) {
    return at.append(at.primitive, at.attributes, {*inner});
  }
  return moved_literal(at);
}

std::optional<Slot> simplify_transpose(const Simplifying& at) {
  const Shape permutation = at.attributes.shape("permutation");
  if (permutation == iota_shape(permutation.size())) return at.operands[0];
  const auto inner = at.builder.definition(at.operands[0]);
  if (inner && inner->primitive.name == "transpose") {
    const Shape both = composed(permutation, inner->attributes.shape("permutation"));
    return at.append(at.primitive, {{"permutation", {both}}}, {inner->operands[0]});
  }
  return moved_literal(at);
}

std::vector<TensorType> slice_type(const Typing& typing) {
  const TensorType& x = typing.operands[0];
  for (const char* name : {"start", "size", "step"}) require_length(typing, name, x.shape.size());
  const Shape& start = typing.attributes.shape("start");
  const Shape& size = typing.attributes.shape("size");
  const Shape& step = typing.attributes.shape("step");
  for (std::size_t i = 0; i < size.size(); ++i) {
    typing.require(is_inside(start[i], size[i], step[i], x.shape[i]), [&] {
      return Complaint{"slice: start " + std::to_string(start[i]) + ", size " +
                       std::to_string(size[i]) + ", step " + std::to_string(step[i]) +
                       " leaves axis " + std::to_string(i) + " of " + to_string(x)};
    });
  }
  return {x.dtype[size]};
}

/// A slice of the operand's own type is the operand, unless it reverses an axis.
std::optional<Slot> simplify_slice(const Simplifying& at) {
  const Shape& step = at.attributes.shape("step");
  bool reverses = false;
  for (std::size_t i = 0; i < step.size(); ++i)
    reverses = reverses || (step[i] < 0 && at.result.shape[i] > 1);
  if (!reverses && at.builder.type(at.operands[0]) == at.result) return at.operands[0];
  return moved_literal(at);
}

std::vector<TensorType> pad_type(const Typing& typing) {
  const TensorType& x = typing.operands[0];
  typing.require(typing.operands[1] == x.dtype[{}], [&] {
    return Complaint{"pad: the value is " + to_string(typing.operands[1]) + ", not " +
                     to_string(x.dtype[{}])};
  });
  for (const char* name : {"low", "high", "interior"}) {
    require_length(typing, name, x.shape.size());
    for (std::int64_t count : typing.attributes.shape(name)) {
      typing.require(count >= 0, [&] {
        return Complaint{std::string("pad: ") + name + " " +
                             to_string(typing.attributes.shape(name)) + " is negative",
                         "slice takes elements away"};
      });
    }
  }
  Shape shape;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    std::int64_t between = 0;
    if (__builtin_mul_overflow(std::max<std::int64_t>(x.shape[i] - 1, 0),
                               typing.attributes.shape("interior")[i], &between)) {
      typing.require(false, [] { return Complaint{"pad: an extent does not fit 64 bits"}; });
    }
    shape.push_back(sum_of_extents({typing.attributes.shape("low")[i], x.shape[i], between,
                                    typing.attributes.shape("high")[i]}));
  }
  return {x.dtype[shape]};
}

Tensor unpadded(const Transposing& at) {
  Shape step;
  for (std::int64_t interior : at.attributes.shape("interior")) step.push_back(interior + 1);
  return slice(at.ct[0], at.attributes.shape("low"), at.types[0].shape, step);
}

void transpose_pad(const Transposing& at) {
  if (at.linear[0]) {
    at.add(0, at.types[0].size() ? unpadded(at) : zeros(at.types[0]));
  } else if (!is_zero(at.x[0])) {
    at.not_linear("the padded tensor does not depend on the input");
  }
  if (at.linear[1]) {
    const Tensor all_of_it = sum(at.ct[0]);
    at.add(1, at.types[0].size() ? all_of_it - sum(unpadded(at)) : all_of_it);
  } else if (!is_zero(at.x[1])) {
    at.not_linear("the value is not 0");
  }
}

std::vector<TensorType> concat_type(const Typing& typing) {
  require_dtypes(typing);
  const std::int64_t axis = typing.attributes.integer("axis");
  TensorType result = typing.operands[0];
  typing.require(0 <= axis && axis < result.rank(), [&] {
    return Complaint{"concat: axis " + std::to_string(axis) + " of " + to_string(result)};
  });
  const auto i = static_cast<std::size_t>(axis);
  for (const TensorType& operand : typing.operands.subspan(1)) {
    TensorType expected = operand;
    if (operand.shape.size() == result.shape.size()) expected.shape[i] = result.shape[i];
    typing.require(expected == result, [&] {
      return Complaint{"concat: extents differ besides axis " + std::to_string(axis) + ": " +
                       list_types(typing.operands)};
    });
    result.shape[i] = sum_of_extents({result.shape[i], operand.shape[i]});
  }
  return {result};
}

void transpose_concat(const Transposing& at) {
  const auto axis = static_cast<std::size_t>(at.attributes.integer("axis"));
  Shape start(at.types[0].shape.size(), 0);
  for (std::size_t i = 0; i < at.types.size(); ++i) {
    if (at.linear[i]) {
      at.add(i, slice(at.ct[0], at.types[i].shape[axis] ? start : Shape(start.size(), 0),
                      at.types[i].shape, Shape(start.size(), 1)));
    } else if (!is_zero(at.x[i])) {
      at.not_linear("one part does not depend on the input, so the result is only affine");
    }
    start[axis] += at.types[i].shape[axis];
  }
}

/// The batch rule of primitives whose attributes list something for each axis: the lanes come
/// first, with this entry in each list.
BatchRule with_entries(
    std::initializer_list<std::pair<const char*, std::int64_t (*)(const Batching&)>> entries) {
  return [entries = std::vector(entries)](const Batching& at) {
    Attributes attributes = at.attributes;
    for (const auto& [name, entry] : entries)
      attributes.set(name, {with_lanes(entry(at), at.attributes.shape(name))});
    return applied(at, attributes, all_lifted(at));
  };
}

std::int64_t none(const Batching&) { return 0; }
std::int64_t one(const Batching&) { return 1; }
std::int64_t lanes(const Batching& at) { return at.size; }

/// A value for each lane takes the places of padding by 0.
std::vector<Tensor> batch_pad(const Batching& at) {
  const auto padded = [&](const Tensor& x, const Operand& value) {
    const auto lists = [&](const char* name) { return with_lanes(0, at.attributes.shape(name)); };
    return pad(x, value, lists("low"), lists("high"), lists("interior"));
  };
  const Tensor x = at.lifted(0);
  if (!at.batched[1]) return {padded(x, at.x[1])};
  const Tensor inside = padded(full(x.shape(), true), false);
  return {where(inside, padded(x, zeros({}, x.dtype())),
                lane_column(at.x[1], at.result_types[0].rank()))};
}

}  // namespace

void add_shape_primitives(PrimitiveTable& table) {
  table.add({.name = "broadcast_in_dim",
             .attributes = {{"shape", Kind::shape}, {"axes", Kind::shape}},
             .type = broadcast_type,
             .simplify = simplify_broadcast,
             .derivative = linear_in(1),
             .transpose = transpose_broadcast,
             .batch =
                 [](const Batching& at) {
                   const Shape axes = with_lanes(0, past_lanes(at.attributes.shape("axes")));
                   const Shape shape = with_lanes(at.size, at.attributes.shape("shape"));
                   return std::vector{broadcast_in_dim(at.x[0], shape, axes)};
                 },
             .shapes = "s → shape",
             .formula = "broadcast_in_dim dx"});
  table.add(
      {.name = "reshape",
       .attributes = {{"shape", Kind::shape}},
       .type = reshape_type,
       .simplify = simplify_reshape,
       .derivative = linear_in(1),
       .transpose = [](const Transposing& at) { at.add(0, reshape(at.ct[0], at.types[0].shape)); },
       .batch = with_entries({{"shape", lanes}}),
       .shapes = "s → shape",
       .formula = "reshape dx"});
  table.add({.name = "transpose",
             .attributes = {{"permutation", Kind::shape}},
             .type = transpose_type,
             .simplify = simplify_transpose,
             .derivative = linear_in(1),
             .transpose =
                 [](const Transposing& at) {
                   at.add(0, transpose(at.ct[0], inverse(at.attributes.shape("permutation"))));
                 },
             .batch =
                 [](const Batching& at) {
                   const Shape& permutation = at.attributes.shape("permutation");
                   return std::vector{transpose(at.x[0], with_lanes(0, past_lanes(permutation)))};
                 },
             .shapes = "s → s permuted",
             .formula = "transpose dx"});
  table.add({.name = "slice",
             .attributes = {{"start", Kind::shape}, {"size", Kind::shape}, {"step", Kind::shape}},
             .type = slice_type,
             .simplify = simplify_slice,
             .derivative = linear_in(1),
             // One step that writes into the accumulator: n reads of single elements cost O(n).
             .transpose =
                 [](const Transposing& at) {
                   at.accumulators[0] =
                       update_slice(at.accumulator(0), at.ct[0], at.attributes.shape("start"),
                                    at.attributes.shape("step"), Combine::add);
                 },
             .batch = with_entries({{"start", none}, {"size", lanes}, {"step", one}}),
             .shapes = "s → size",
             .formula = "slice dx"});
  table.add({.name = "pad",
             .min_operands = 2,
             .max_operands = 2,
             .attributes = {{"low", Kind::shape}, {"high", Kind::shape}, {"interior", Kind::shape}},
             .type = pad_type,
             .derivative = linear_in(2),
             .transpose = transpose_pad,
             .batch = batch_pad,
             .cost_factor = 6,
             .shapes = "s, [] → low + s + interior + high",
             .formula = "pad dx"});
  table.add({.name = "concat",
             .max_operands = INT32_MAX,
             .attributes = {{"axis", Kind::integer}},
             .type = concat_type,
             .derivative = linear_in(SIZE_MAX),
             .transpose = transpose_concat,
             .batch = batch_along_axis,
             .shapes = "s… → s joined along axis",
             .formula = "concat dx…"});
}

}  // namespace hom
