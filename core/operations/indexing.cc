// core/operations/indexing.cc -- gather, scatter, windows and segments
#include <hom/core/operations/indexing.h>

#include <limits>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

Attribute name_of(Bounds bounds) {
  return {std::string(bounds == Bounds::check  ? "check"
                      : bounds == Bounds::clip ? "clip"
                                               : "drop")};
}

Attribute name_of(Combine combine) {
  switch (combine) {
    case Combine::set:
      return {std::string("set")};
    case Combine::add:
      return {std::string("add")};
    case Combine::mul:
      return {std::string("mul")};
    case Combine::min:
      return {std::string("min")};
    case Combine::max:
      break;
  }
  return {std::string("max")};
}

void require_integers(const char* operation, const Operand& indices) {
  require(!indices.is_weak() && indices.dtype().is_integer(), indices.at(), [&] {
    return Complaint{std::string(operation) + ": indices are " + to_string(indices.dtype()) +
                         ", not an integer tensor",
                     "convert with indices.astype(i64)"};
  });
}

Tensor segments(const Operand& data, const Operand& ids, std::int64_t n, Combine combine,
                double initial) {
  require_integers("segment", ids);
  const TensorType type = data.value().type(data.at());
  const TensorType id_type = ids.value().type(ids.at());
  require(id_type.rank() == 1 && type.rank() >= 1 && id_type.shape[0] == type.shape[0], data.at(),
          [&] {
            return Complaint{"segment: data " + to_string(type) +
                             " needs one id for each row, got ids " + to_string(id_type)};
          });
  require(n >= 0, data.at(),
          [&] { return Complaint{"segment: " + std::to_string(n) + " segments"}; });
  TensorType result = type;
  result.shape[0] = n;
  // Of integers, the infinities are the ends of the range.
  const Tensor start = literal({initial}, result, Capture::current() != nullptr, data.at());
  const Tensor column = expand_dims(ids, 1);
  return scatter(Operand(start, data.at()), Operand(column, ids.at()), data, {0}, combine);
}

}  // namespace

Tensor gather(const Operand& x, const Operand& indices, const Shape& axes, Bounds bounds) {
  static const Primitive& p = primitive("gather");
  require_integers("gather", indices);
  Shape normal;
  for (std::int64_t axis : axes)
    normal.push_back(normal_axis("gather", axis, signed_size(x.shape()), x.at()));
  return apply_one(p, {{"axes", {normal}}, {"mode", name_of(bounds)}}, {x.value(), indices.value()},
                   x.at());
}

Tensor scatter(const Operand& x, const Operand& indices, const Operand& updates, const Shape& axes,
               Combine combine, Bounds bounds) {
  static const Primitive& p = primitive("scatter");
  require_integers("scatter", indices);
  Shape normal;
  for (std::int64_t axis : axes)
    normal.push_back(normal_axis("scatter", axis, signed_size(x.shape()), x.at()));
  return apply_one(
      p, {{"axes", {normal}}, {"combine", name_of(combine)}, {"mode", name_of(bounds)}},
      {x.value(), indices.value(), fitted("scatter", "an update", updates, x.dtype())}, x.at());
}

Tensor take(const Operand& x, const Operand& indices, std::int64_t axis, Bounds bounds) {
  const std::int64_t rank = signed_size(x.shape());
  const std::int64_t normal = normal_axis("take", axis, rank, x.at());
  const Tensor coordinates = expand_dims(indices, -1);
  const Tensor rows = gather(x, Operand(coordinates, indices.at()), {normal}, bounds);
  // The indexed axes come first; move them back to where the axis was.
  const std::int64_t moved = signed_size(indices.shape());
  Shape permutation;
  for (std::int64_t i = 0; i < normal; ++i) permutation.push_back(moved + i);
  for (std::int64_t i = 0; i < moved; ++i) permutation.push_back(i);
  for (std::int64_t i = normal; i < rank - 1; ++i) permutation.push_back(moved + i);
  return transpose(Operand(rows, x.at()), permutation);
}

Tensor take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis, Bounds bounds) {
  require_integers("take_along_axis", indices);
  const TensorType type = x.value().type(x.at());
  const TensorType index_type = indices.value().type(indices.at());
  const std::int64_t normal = normal_axis("take_along_axis", axis, type.rank(), x.at());
  bool fits = index_type.rank() == type.rank();
  for (std::int64_t i = 0; fits && i < type.rank(); ++i) {
    fits = i == normal ||
           type.shape[static_cast<std::size_t>(i)] == index_type.shape[static_cast<std::size_t>(i)];
  }
  require(fits, x.at(), [&] {
    return Complaint{"take_along_axis: indices " + to_string(index_type) + " for " +
                     to_string(type) + ": extents must agree on every axis but " +
                     std::to_string(normal)};
  });
  std::vector<Tensor> coordinates;
  Shape axes;
  for (std::int64_t i = 0; i < type.rank(); ++i) {
    axes.push_back(i);
    coordinates.push_back(i == normal ? indices.value() : iota(index_type, i, x.at()));
  }
  return gather(x, Operand(stack(coordinates, -1, x.at()), x.at()), axes, bounds);
}

Tensor dynamic_slice(const Operand& x, const Operand& start, const Shape& size, Bounds bounds) {
  static const Primitive& p = primitive("dynamic_slice");
  require_integers("dynamic_slice", start);
  return apply_one(p, {{"size", {size}}, {"mode", name_of(bounds)}}, {x.value(), start.value()},
                   x.at());
}

Tensor dynamic_update_slice(const Operand& x, const Operand& update, const Operand& start,
                            Combine combine, Bounds bounds) {
  static const Primitive& p = primitive("dynamic_update_slice");
  require_integers("dynamic_update_slice", start);
  return apply_one(
      p, {{"combine", name_of(combine)}, {"mode", name_of(bounds)}},
      {x.value(), fitted("dynamic_update_slice", "an update", update, x.dtype()), start.value()},
      x.at());
}

Tensor update_slice(const Operand& x, const Operand& update, const Shape& start, const Shape& step,
                    Combine combine) {
  static const Primitive& p = primitive("update_slice");
  return apply_one(p, {{"start", {start}}, {"step", {step}}, {"combine", name_of(combine)}},
                   {x.value(), fitted("update_slice", "an update", update, x.dtype())}, x.at());
}

Tensor segment_sum(const Operand& data, const Operand& ids, std::int64_t n) {
  return segments(data, ids, n, Combine::add, 0);
}
Tensor segment_prod(const Operand& data, const Operand& ids, std::int64_t n) {
  return segments(data, ids, n, Combine::mul, 1);
}
Tensor segment_max(const Operand& data, const Operand& ids, std::int64_t n) {
  return segments(data, ids, n, Combine::max, -std::numeric_limits<double>::infinity());
}
Tensor segment_min(const Operand& data, const Operand& ids, std::int64_t n) {
  return segments(data, ids, n, Combine::min, std::numeric_limits<double>::infinity());
}

}  // namespace hom
