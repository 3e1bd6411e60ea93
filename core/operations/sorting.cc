// core/operations/sorting.cc -- sort and what is composed of it
#include <hom/core/operations/sorting.h>

#include <bit>
#include <cmath>
#include <span>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/indexing.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

TensorList sorted(const Operand& keys, std::span<const Tensor> moved, std::int64_t axis,
                  Order order) {
  static const Primitive& p = primitive("sort");
  std::vector<Tensor> operands{keys.value()};
  operands.insert(operands.end(), moved.begin(), moved.end());
  const bool descending = order == Order::descending;
  return apply(p, {{"axis", {axis}}, {"descending", {descending}}}, operands, keys.at());
}

std::int64_t axis_of(const char* operation, const Operand& x, std::int64_t axis) {
  return normal_axis(operation, axis, signed_size(x.shape()), x.at());
}

/// Elements in order, and where they come from.
TensorList with_positions(const Operand& x, std::int64_t axis, Order order) {
  const Tensor position = iota(i64[x.shape()], axis, x.at());
  return sorted(x, {&position, 1}, axis, order);
}

/// Elements start … start + size − 1 along an axis.
Tensor part(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t size) {
  Shape starts(x.shape().size(), 0);
  Shape sizes = x.shape();
  starts[static_cast<std::size_t>(axis)] = start;
  sizes[static_cast<std::size_t>(axis)] = size;
  return slice(x, starts, sizes, Shape(sizes.size(), 1));
}

void require_place(const char* operation, const Operand& x, std::int64_t kth, std::int64_t axis) {
  const Shape shape = x.shape();
  const std::int64_t n = shape[static_cast<std::size_t>(axis)];
  require(-n <= kth && kth < n, x.at(), [&] {
    return Complaint{std::string(operation) + ": place " + std::to_string(kth) + " of axis " +
                     std::to_string(axis) + " of " + to_string(x.value().type()) +
                     " does not exist"};
  });
}

}  // namespace

Tensor sort(const Operand& x, std::int64_t axis, Order order) {
  return sorted(x, {}, axis_of("sort", x, axis), order)[0];
}

Tensor argsort(const Operand& x, std::int64_t axis, Order order) {
  return with_positions(x, axis_of("argsort", x, axis), order)[1];
}

std::pair<Tensor, Tensor> sort_by_key(const Operand& keys, const Operand& values, std::int64_t axis,
                                      Order order) {
  const Tensor moved = values.value();
  const TensorList both = sorted(keys, {&moved, 1}, axis_of("sort_by_key", keys, axis), order);
  return {both[0], both[1]};
}

TopK top_k(const Operand& x, std::int64_t k, std::int64_t axis) {
  const LocationScope line(LocationScope::current(x.at()));
  const std::int64_t along = axis_of("top_k", x, axis);
  const std::int64_t n = x.shape()[static_cast<std::size_t>(along)];
  require(0 <= k && k <= n, x.at(), [&] {
    return Complaint{"top_k: " + std::to_string(k) + " of the " + std::to_string(n) +
                     " elements along axis " + std::to_string(along) + " of " +
                     to_string(x.value().type())};
  });
  const TensorList all = with_positions(x, along, Order::descending);
  const Tensor values = part(all[0], along, 0, k);
  return {values, part(all[1], along, 0, k)};
}

Tensor partition(const Operand& x, std::int64_t kth, std::int64_t axis) {
  const std::int64_t along = axis_of("partition", x, axis);
  require_place("partition", x, kth, along);
  return sorted(x, {}, along, Order::ascending)[0];
}

Tensor argpartition(const Operand& x, std::int64_t kth, std::int64_t axis) {
  const std::int64_t along = axis_of("argpartition", x, axis);
  require_place("argpartition", x, kth, along);
  return with_positions(x, along, Order::ascending)[1];
}

Tensor quantile(const Operand& x, double q, const Axes& axes, Keep keep) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("quantile", x);
  require(q >= 0 && q <= 1, x.at(), [&] {
    return Complaint{"quantile: q is " + std::to_string(q) + ", not a fraction between 0 and 1",
                     "divide percents by 100"};
  });
  const TensorType type = x.value().type(x.at());
  const Shape reduced = axes.list ? normal_axes("quantile", *axes.list, type.rank(), x.at())
                                  : iota_shape(type.shape.size());
  // The reduced axes as one, behind the others.
  Shape order = axes_without(type.shape.size(), reduced);
  Shape kept;
  for (std::int64_t axis : order) kept.push_back(type.shape[static_cast<std::size_t>(axis)]);
  std::int64_t n = 1;
  Shape result = type.shape;
  for (std::int64_t axis : reduced) {
    n *= type.shape[static_cast<std::size_t>(axis)];
    result[static_cast<std::size_t>(axis)] = 1;
    order.push_back(axis);
  }
  require(n > 0, x.at(), [&] {
    return Complaint{"quantile: no elements along axes " + to_string(reduced) + " of " +
                     to_string(type)};
  });
  const std::int64_t last = signed_size(kept);
  Shape flat = kept;
  flat.push_back(n);
  const Tensor all = sort(reshape(transpose(x, order), flat));
  const double place = q * static_cast<double>(n - 1);
  const auto below = static_cast<std::int64_t>(std::floor(place));
  const double fraction = place - static_cast<double>(below);
  Tensor y = widened(part(all, last, below, 1));
  if (fraction > 0) {
    // Both ends are exact, and between equal infinities there is no difference.
    const Tensor above = widened(part(all, last, below + 1, 1));
    const Tensor mixed = scale(1 - fraction, y) + scale(fraction, above);
    y = where(y == above, y, mixed);
  }
  const Tensor largest = part(all, last, n - 1, 1);
  y = where(is_nan(largest), widened(largest), y).astype(type.dtype);
  return reshape(y, keep == Keep::yes ? result : kept);
}

Tensor median(const Operand& x, const Axes& axes, Keep keep) {
  const LocationScope line(LocationScope::current(x.at()));
  require_float("median", x);
  return quantile(x, 0.5, axes, keep);
}

Tensor searchsorted(const Operand& sorted, const Operand& values, Side side) {
  const LocationScope line(LocationScope::current(values.at()));
  const TensorType type = sorted.value().type(sorted.at());
  require(type.rank() == 1, values.at(), [&] {
    return Complaint{"searchsorted: searches an ascending vector, got " + to_string(type),
                     "vmap searches in many at once"};
  });
  const Dtype dtype = common_dtype(std::array<const Operand*, 2>{&sorted, &values});
  const Tensor list = sorted.as(dtype);
  const Tensor value = values.as(dtype);
  // NaN is larger than every number, and equal to itself.
  const auto is_less = [&](const Tensor& a, const Tensor& b) {
    if (dtype.is_bool()) return ~a & b;
    return dtype.is_float() ? (a < b) | (is_nan(b) & !is_nan(a)) : a < b;
  };
  const std::int64_t n = type.shape[0];
  Tensor count = zeros(value.shape(), i64);
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
       step > 0; step /= 2) {
    const Tensor further = count + step;
    const Tensor last = take(list, minimum(further, n) - 1);
    const Tensor before = side == Side::left ? is_less(last, value) : !is_less(value, last);
    count = where((further <= n) & before, further, count);
  }
  return count;
}

}  // namespace hom
