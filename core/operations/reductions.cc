// core/operations/reductions.cc -- reductions, running reductions and contractions
#include <hom/core/operations/reductions.h>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

Shape axes_of(const std::string& operation, const Axes& axes, std::int64_t rank,
              const Location& at) {
  if (axes.list) return normal_axes(operation, *axes.list, rank, at);
  return iota_shape(static_cast<std::size_t>(rank), 0);
}

Shape with_kept(Shape shape, const Shape& axes) {
  for (std::int64_t axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
  return shape;
}

Tensor reduced(const Primitive& p, const std::string& operation, const Operand& x, const Axes& axes,
               Keep keep) {
  const Shape shape = x.shape();
  const Shape normal = axes_of(operation, axes, signed_size(shape), x.at());
  if (normal.empty()) return x.value();
  const Tensor y = apply_one(p, {{"axes", {normal}}}, {x.value()}, x.at());
  return keep == Keep::yes ? reshape(Operand(y, x.at()), with_kept(shape, normal)) : y;
}

Tensor positioned(const Primitive& p, const Operand& x, std::int64_t axis, Keep keep) {
  const Shape shape = x.shape();
  const std::int64_t normal = normal_axis(p.name, axis, signed_size(shape), x.at());
  const Tensor y = apply_one(p, {{"axis", {normal}}}, {x.value()}, x.at());
  return keep == Keep::yes ? reshape(Operand(y, x.at()), with_kept(shape, {normal})) : y;
}

Tensor running(const Primitive& p, const Operand& x, std::int64_t axis, bool reverse) {
  const std::int64_t normal = normal_axis(p.name, axis, signed_size(x.shape()), x.at());
  return apply_one(p, {{"axis", {normal}}, {"reverse", {reverse}}}, {x.value()}, x.at());
}

/// Elements that go into one element of the result.
std::int64_t reduced_count(const Shape& shape, const Shape& axes) {
  std::int64_t count = 1;
  for (std::int64_t axis : axes) count *= shape[static_cast<std::size_t>(axis)];
  return count;
}

/// √x with derivative 0 at 0: the guard goes around the argument too, so that no infinity arises.
Tensor guarded_sqrt(const Operand& x) {
  const Tensor zero = x == Operand(0, x.at());
  const Tensor safe = where(Operand(zero, x.at()), Operand(1, x.at()), x);
  return where(Operand(zero, x.at()), Operand(0, x.at()),
               Operand(sqrt(Operand(safe, x.at())), x.at()));
}

}  // namespace

Tensor sum(const Operand& x, const Axes& axes, Keep keep) {
  static const Primitive& p = primitive("reduce_sum");
  return reduced(p, "sum", x, axes, keep);
}
Tensor prod(const Operand& x, const Axes& axes, Keep keep) {
  static const Primitive& p = primitive("reduce_prod");
  return reduced(p, "prod", x, axes, keep);
}
Tensor max(const Operand& x, const Axes& axes, Keep keep) {
  static const Primitive& p = primitive("reduce_max");
  return reduced(p, "max", x, axes, keep);
}
Tensor min(const Operand& x, const Axes& axes, Keep keep) {
  static const Primitive& p = primitive("reduce_min");
  return reduced(p, "min", x, axes, keep);
}
Tensor max(const Operand& x) { return max(x, Axes{}); }
Tensor min(const Operand& x) { return min(x, Axes{}); }

namespace {
Tensor extreme_or(bool largest, const Operand& x, const Operand& initial, const Axes& axes,
                  Keep keep) {
  const char* operation = largest ? "max_or" : "min_or";
  const Shape shape = x.shape();
  const Shape normal = axes_of(operation, axes, signed_size(shape), x.at());
  const Tensor start = fitted(operation, "an initial value", initial, x.dtype());
  if (reduced_count(shape, normal) == 0) {
    Shape result;
    for (std::int64_t axis : axes_without(shape.size(), normal))
      result.push_back(shape[static_cast<std::size_t>(axis)]);
    return broadcast_to(Operand(start, x.at()),
                        keep == Keep::yes ? with_kept(shape, normal) : result);
  }
  const Tensor extreme = largest ? max(x, axes, keep) : min(x, axes, keep);
  return largest ? maximum(Operand(extreme, x.at()), Operand(start, x.at()))
                 : minimum(Operand(extreme, x.at()), Operand(start, x.at()));
}
}  // namespace

Tensor max_or(const Operand& x, const Operand& initial, const Axes& axes, Keep keep) {
  return extreme_or(true, x, initial, axes, keep);
}
Tensor min_or(const Operand& x, const Operand& initial, const Axes& axes, Keep keep) {
  return extreme_or(false, x, initial, axes, keep);
}
Tensor all_of(const Operand& x, const Axes& axes, Keep keep) {
  static const Primitive& p = primitive("reduce_and");
  return reduced(p, "all_of", x, axes, keep);
}
Tensor any_of(const Operand& x, const Axes& axes, Keep keep) {
  static const Primitive& p = primitive("reduce_or");
  return reduced(p, "any_of", x, axes, keep);
}

Tensor mean(const Operand& x, const Axes& axes, Keep keep) {
  require_float("mean", x);
  const Shape shape = x.shape();
  const auto count =
      static_cast<double>(reduced_count(shape, axes_of("mean", axes, signed_size(shape), x.at())));
  const Tensor total = sum(Operand(widened(x), x.at()), axes, keep);
  return convert(Operand(Operand(total, x.at()) / Operand(count, x.at()), x.at()), x.dtype());
}

Tensor variance(const Operand& x, const Axes& axes, Keep keep, std::int64_t ddof) {
  require_float("variance", x);
  const Shape shape = x.shape();
  const auto count = static_cast<double>(
      reduced_count(shape, axes_of("variance", axes, signed_size(shape), x.at())) - ddof);
  const Tensor wide = widened(x);
  const Tensor center = mean(Operand(wide, x.at()), axes, Keep::yes);
  const Tensor deviation = Operand(wide, x.at()) - Operand(center, x.at());
  const Tensor square = Operand(deviation, x.at()) * Operand(deviation, x.at());
  const Tensor total = sum(Operand(square, x.at()), axes, keep);
  return convert(Operand(Operand(total, x.at()) / Operand(count, x.at()), x.at()), x.dtype());
}

Tensor standard_deviation(const Operand& x, const Axes& axes, Keep keep, std::int64_t ddof) {
  const Tensor spread = variance(x, axes, keep, ddof);
  return guarded_sqrt(Operand(spread, x.at()));
}

Tensor norm(const Operand& x, const Axes& axes, Keep keep) {
  require_float("norm", x);
  const Tensor wide = widened(x);
  const Tensor square = Operand(wide, x.at()) * Operand(wide, x.at());
  const Tensor total = sum(Operand(square, x.at()), axes, keep);
  return convert(Operand(guarded_sqrt(Operand(total, x.at())), x.at()), x.dtype());
}

Tensor argmax(const Operand& x, std::int64_t axis, Keep keep) {
  static const Primitive& p = primitive("argmax");
  return positioned(p, x, axis, keep);
}
Tensor argmin(const Operand& x, std::int64_t axis, Keep keep) {
  static const Primitive& p = primitive("argmin");
  return positioned(p, x, axis, keep);
}

Tensor cumsum(const Operand& x, std::int64_t axis, bool reverse) {
  static const Primitive& p = primitive("cumsum");
  return running(p, x, axis, reverse);
}
Tensor cumprod(const Operand& x, std::int64_t axis, bool reverse) {
  static const Primitive& p = primitive("cumprod");
  return running(p, x, axis, reverse);
}
Tensor cummax(const Operand& x, std::int64_t axis, bool reverse) {
  static const Primitive& p = primitive("cummax");
  return running(p, x, axis, reverse);
}
Tensor cummin(const Operand& x, std::int64_t axis, bool reverse) {
  static const Primitive& p = primitive("cummin");
  return running(p, x, axis, reverse);
}

Tensor dot_general(const Operand& x, const Operand& y, const Contraction& contraction) {
  static const Primitive& p = primitive("dot_general");
  const Dtype dtype = promote(x.dtype(), y.dtype());
  const auto normal = [](const Operand& operand, const Shape& axes) {
    Shape result;
    for (std::int64_t axis : axes)
      result.push_back(
          normal_axis("dot_general", axis, signed_size(operand.shape()), operand.at()));
    return result;
  };
  return apply_one(p,
                   {{"lhs_contract", {normal(x, contraction.lhs_contract)}},
                    {"rhs_contract", {normal(y, contraction.rhs_contract)}},
                    {"lhs_batch", {normal(x, contraction.lhs_batch)}},
                    {"rhs_batch", {normal(y, contraction.rhs_batch)}}},
                   {x.as(dtype), y.as(dtype)}, y.at());
}

Tensor matmul(const Operand& x, const Operand& y) {
  const TensorType a = x.value().type(x.at());
  const TensorType b = y.value().type(y.at());
  require(a.rank() >= 1 && b.rank() >= 1, y.at(), [&] {
    return Complaint{"matmul: takes tensors of rank 1 or more, got lhs " + to_string(a) +
                         " · rhs " + to_string(b),
                     "multiply by a number with *"};
  });
  const std::int64_t inner_a = a.shape.back();
  const std::int64_t inner_b = b.rank() == 1 ? b.shape[0] : b.shape[b.shape.size() - 2];
  require(inner_a == inner_b, y.at(), [&] {
    return Complaint{"matmul: inner extents differ: lhs " + to_string(a) + " · rhs " +
                         to_string(b) + " (" + std::to_string(inner_a) + " ≠ " +
                         std::to_string(inner_b) + ")",
                     "the weight of an affine layer is [inputs, outputs]"};
  });
  if (b.rank() <= 2) {
    // No batch on the right: every axis of the left but the last is free.
    return dot_general(x, y, {{a.rank() - 1}, {0}, {}, {}});
  }
  if (a.rank() == 1) {
    const Tensor rows = matmul(Operand(expand_dims(x, 0), x.at()), y);
    return squeeze(Operand(rows, y.at()), {-2});
  }
  const Shape batch_a(a.shape.begin(), a.shape.end() - 2);
  const Shape batch_b(b.shape.begin(), b.shape.end() - 2);
  Shape batch = broadcast_shapes(
      "matmul", {TensorType{a.dtype, batch_a}, TensorType{b.dtype, batch_b}}, y.at());
  const auto rank = signed_size(batch) + 2;
  const auto spread = [&](const Operand& operand, const TensorType& type) {
    Shape shape = batch;
    shape.push_back(type.shape[type.shape.size() - 2]);
    shape.push_back(type.shape.back());
    return broadcast_to(operand, shape);
  };
  const Shape batch_axes = iota_shape(batch.size(), 0);
  return dot_general(Operand(spread(x, a), x.at()), Operand(spread(y, b), y.at()),
                     {{rank - 1}, {rank - 2}, batch_axes, batch_axes});
}

Tensor dot(const Operand& x, const Operand& y) {
  const TensorType a = x.value().type(x.at());
  const TensorType b = y.value().type(y.at());
  require(a.rank() == 1 && a.shape == b.shape, y.at(), [&] {
    return Complaint{
        "dot: takes two vectors of one length, got " + to_string(a) + " and " + to_string(b),
        "matmul and dot_general contract other shapes"};
  });
  return dot_general(x, y, {{0}, {0}, {}, {}});
}

Tensor outer(const Operand& x, const Operand& y) {
  const TensorType a = x.value().type(x.at());
  const TensorType b = y.value().type(y.at());
  require(a.rank() == 1 && b.rank() == 1, y.at(), [&] {
    return Complaint{"outer: takes two vectors, got " + to_string(a) + " and " + to_string(b)};
  });
  return dot_general(x, y, {});
}

}  // namespace hom
