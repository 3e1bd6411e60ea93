// core/operations/shaping.cc -- leaves, views and rearrangements
#include <hom/core/operations/shaping.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>

namespace hom {
namespace {

Tensor filled(const Shape& shape, const Operand& value, Dtype dtype, const Location& at) {
  for (std::int64_t extent : shape) {
    require(extent >= 0, at, [&] {
      return Complaint{"full: shape " + to_string(shape) + " has a negative extent"};
    });
  }
  if (!value.is_weak()) return broadcast_to(convert(value, dtype), shape);
  require_fits(value.weak_value(), dtype, at);
  return literal(value.weak_value(), TensorType{dtype, shape}, Capture::current() != nullptr, at);
}

void require_length(const char* operation, const char* what, const Shape& list, std::int64_t rank,
                    const Location& at) {
  require(signed_size(list) == rank, at, [&] {
    return Complaint{std::string(operation) + ": " + what + " " + to_string(list) + " has " +
                     std::to_string(list.size()) + " entries for a tensor of rank " +
                     std::to_string(rank)};
  });
}

std::vector<Tensor> values_of(std::initializer_list<Operand> parts) {
  std::vector<const Operand*> pointers;
  for (const Operand& part : parts) pointers.push_back(&part);
  const Dtype dtype = pointers.empty() ? f64 : common_dtype(pointers);
  std::vector<Tensor> tensors;
  for (const Operand& part : parts) tensors.push_back(part.as(dtype));
  return tensors;
}

std::vector<Tensor> of_one_dtype(const char* operation, std::span<const Tensor> parts,
                                 const Location& at) {
  require(!parts.empty(), at,
          [&] { return Complaint{std::string(operation) + ": no parts to join"}; });
  Dtype dtype = parts[0].dtype(at);
  for (const Tensor& part : parts) dtype = promote(dtype, part.dtype(at));
  std::vector<Tensor> converted;
  for (const Tensor& part : parts) converted.push_back(part.astype(dtype, at));
  return converted;
}

}  // namespace

Tensor full(const Shape& shape, const Operand& value, const Location& at) {
  return filled(shape, value, value.dtype(), at);
}
Tensor full(const Shape& shape, const Operand& value, Dtype dtype, const Location& at) {
  return filled(shape, value, dtype, at);
}
Tensor zeros(const Shape& shape, Dtype dtype, const Location& at) {
  return filled(shape, 0, dtype, at);
}
Tensor ones(const Shape& shape, Dtype dtype, const Location& at) {
  return filled(shape, 1, dtype, at);
}
Tensor zeros_like(const Operand& x) { return filled(x.shape(), 0, x.dtype(), x.at()); }
Tensor ones_like(const Operand& x) { return filled(x.shape(), 1, x.dtype(), x.at()); }
Tensor full_like(const Operand& x, const Operand& value) {
  if (value.is_weak()) return filled(x.shape(), value, x.dtype(), x.at());
  const Tensor element = fitted("full_like", "a value", value, x.dtype());
  return broadcast_to(Operand(element, x.at()), x.shape());
}

Tensor iota(const TensorType& type, std::int64_t axis, const Location& at) {
  static const Primitive& p = primitive("iota");
  const std::int64_t normal = normal_axis("iota", axis, type.rank(), at);
  return apply_one(p, {{"dtype", {type.dtype}}, {"shape", {type.shape}}, {"axis", {normal}}}, {},
                   at);
}

Tensor arange(std::int64_t n, Dtype dtype, const Location& at) { return iota(dtype[{n}], 0, at); }

namespace detail {
Tensor arange(std::int64_t start, std::int64_t stop, std::int64_t step, Dtype dtype,
              const Location& at) {
  require(step != 0, at, [] { return Complaint{"arange: the step is 0"}; });
  // Unsigned, because the distance and the opposite of the step may not fit i64.
  const auto from = static_cast<std::uint64_t>(start);
  const auto to = static_cast<std::uint64_t>(stop);
  const auto by = static_cast<std::uint64_t>(step);
  const bool any = step > 0 ? start < stop : start > stop;
  const std::uint64_t steps = !any ? 0 : step > 0 ? (to - from - 1) / by : (from - to - 1) / -by;
  require(steps < static_cast<std::uint64_t>(INT64_MAX), at, [&] {
    return Complaint{"arange: from " + std::to_string(start) + " to " + std::to_string(stop) +
                     " are too many elements"};
  });
  if (!any) return zeros({0}, dtype, at);
  require_fits({start}, dtype, at);
  require_fits({static_cast<std::int64_t>(from + steps * by)}, dtype, at);
  const Tensor position = iota(i64[{static_cast<std::int64_t>(steps) + 1}], 0, at);
  const Tensor offset = Operand(position, at) * Operand(step, at);
  return (Operand(offset, at) + Operand(start, at)).astype(dtype, at);
}

Tensor arange(double start, double stop, double step, Dtype dtype, const Location& at) {
  require(dtype.is_float(), at, [&] {
    return Complaint{"arange: floats do not count in " + to_string(dtype),
                     "pass integers, or a float dtype"};
  });
  const double count = std::ceil((stop - start) / step);
  // A step of 0 makes the count infinite, or NaN.
  require(std::isfinite(start) && std::isfinite(step) && count < 0x1p53, at, [&] {
    return Complaint{"arange: no list of numbers goes from " + to_string(start) + " to " +
                     to_string(stop) + " by " + to_string(step)};
  });
  const Tensor position = iota(f64[{static_cast<std::int64_t>(std::max(count, 0.0))}], 0, at);
  const Tensor offset = Operand(position, at) * Operand(step, at);
  return (Operand(offset, at) + Operand(start, at)).astype(dtype, at);
}
}  // namespace detail

Tensor linspace(double start, double stop, std::int64_t count, Dtype dtype, const Location& at) {
  require(dtype.is_float(), at, [&] {
    return Complaint{"linspace: makes floats, not " + to_string(dtype), "arange makes integers"};
  });
  const Tensor position = arange(count, dtype, at);
  const double last = static_cast<double>(std::max<std::int64_t>(count - 1, 1));
  // Weighting both ends keeps them exact.
  const Tensor weight = Operand(position, at) / Operand(last, at);
  const Tensor rest = Operand(1, at) - Operand(weight, at);
  return Operand(Operand(rest, at) * Operand(start, at), at) +
         Operand(Operand(weight, at) * Operand(stop, at), at);
}

Tensor eye(std::int64_t n, Dtype dtype, const Location& at) {
  const Tensor row = iota(i64[{n, n}], 0, at);
  const Tensor column = iota(i64[{n, n}], 1, at);
  return (Operand(row, at) == Operand(column, at)).astype(dtype, at);
}

Tensor one_hot(const Operand& labels, std::int64_t classes, Dtype dtype) {
  require(labels.dtype().is_integer(), labels.at(), [&] {
    return Complaint{"one_hot: labels are " + to_string(labels.dtype()) + ", not integers",
                     "convert with labels.astype(i32)"};
  });
  const Tensor value = labels.value();
  Shape shape = value.shape(labels.at());
  shape.push_back(classes);
  const Tensor position = iota(TensorType{value.dtype(labels.at()), shape}, -1, labels.at());
  const Tensor column = expand_dims(Operand(value, labels.at()), -1);
  return (Operand(column, labels.at()) == Operand(position, labels.at()))
      .astype(dtype, labels.at());
}

Tensor broadcast_in_dim(const Operand& x, const Shape& shape, const Shape& axes) {
  static const Primitive& p = primitive("broadcast_in_dim");
  if (x.shape() == shape && axes.size() == shape.size()) return x.value();
  return apply_one(p, {{"shape", {shape}}, {"axes", {axes}}}, {x.value()}, x.at());
}

Tensor broadcast_to(const Operand& x, const Shape& shape) {
  const TensorType type = x.value().type(x.at());
  if (type.shape == shape) return x.value();
  const std::int64_t lead = signed_size(shape) - type.rank();
  const bool fits =
      lead >= 0 &&
      broadcast_shapes("broadcast_to", {type, TensorType{type.dtype, shape}}, x.at()) == shape;
  require(fits, x.at(), [&] {
    return Complaint{
        "broadcast_to: " + to_string(type) + " does not broadcast to " + to_string(shape),
        "extents must be equal or 1, counted from the last axis"};
  });
  return broadcast_in_dim(x, shape, iota_shape(type.shape.size(), lead));
}

Tensor reshape(const Operand& x, const Shape& shape) {
  static const Primitive& p = primitive("reshape");
  const TensorType type = x.value().type(x.at());
  Shape whole = shape;
  const auto unknown = std::find(whole.begin(), whole.end(), -1);
  if (unknown != whole.end()) {
    *unknown = 1;
    const std::int64_t known = element_count(whole);
    require(known > 0 && type.size() % known == 0, x.at(), [&] {
      return Complaint{"reshape: " + to_string(type) + " cannot become " + to_string(shape) + ": " +
                       std::to_string(type.size()) + " elements are no multiple of " +
                       std::to_string(known)};
    });
    *unknown = type.size() / known;
  }
  if (whole == type.shape) return x.value();
  return apply_one(p, {{"shape", {whole}}}, {x.value()}, x.at());
}

Tensor ravel(const Operand& x) { return reshape(x, {x.value().type(x.at()).size()}); }

Tensor transpose(const Operand& x) {
  Shape permutation = iota_shape(x.shape().size(), 0);
  std::reverse(permutation.begin(), permutation.end());
  return transpose(x, permutation);
}

Tensor transpose(const Operand& x, const Shape& permutation) {
  static const Primitive& p = primitive("transpose");
  const std::int64_t rank = signed_size(x.shape());
  require_length("transpose", "permutation", permutation, rank, x.at());
  Shape normal;
  for (std::int64_t axis : permutation)
    normal.push_back(normal_axis("transpose", axis, rank, x.at()));
  if (std::is_sorted(normal.begin(), normal.end(), std::less_equal<>())) return x.value();
  return apply_one(p, {{"permutation", {normal}}}, {x.value()}, x.at());
}

Tensor Tensor::T(const Location& at) const { return transpose(Operand(*this, at)); }

Tensor swap_axes(const Operand& x, std::int64_t a, std::int64_t b) {
  const std::int64_t rank = signed_size(x.shape());
  Shape permutation = iota_shape(static_cast<std::size_t>(rank), 0);
  std::swap(permutation[static_cast<std::size_t>(normal_axis("swap_axes", a, rank, x.at()))],
            permutation[static_cast<std::size_t>(normal_axis("swap_axes", b, rank, x.at()))]);
  return transpose(x, permutation);
}

Tensor move_axis(const Operand& x, std::int64_t from, std::int64_t to) {
  const std::int64_t rank = signed_size(x.shape());
  const std::int64_t source = normal_axis("move_axis", from, rank, x.at());
  const std::int64_t target = normal_axis("move_axis", to, rank, x.at());
  Shape permutation = axes_without(static_cast<std::size_t>(rank), {source});
  permutation.insert(permutation.begin() + target, source);
  return transpose(x, permutation);
}

Tensor expand_dims(const Operand& x, std::int64_t axis) {
  Shape shape = x.shape();
  const std::int64_t normal = normal_axis("expand_dims", axis, signed_size(shape) + 1, x.at());
  shape.insert(shape.begin() + normal, 1);
  return reshape(x, shape);
}

Tensor squeeze(const Operand& x, const Shape& axes) {
  const Shape old = x.shape();
  const Shape dropped = normal_axes("squeeze", axes, signed_size(old), x.at());
  Shape shape;
  for (std::int64_t axis = 0; axis < signed_size(old); ++axis) {
    const std::int64_t extent = old[static_cast<std::size_t>(axis)];
    const bool named = contains(dropped, axis);
    require(!named || extent == 1, x.at(), [&] {
      return Complaint{"squeeze: axis " + std::to_string(axis) + " of " + to_string(old) +
                       " has extent " + std::to_string(extent) + ", not 1"};
    });
    if (!named && !(axes.empty() && extent == 1)) shape.push_back(extent);
  }
  return reshape(x, shape);
}

Tensor slice(const Operand& x, const Shape& start, const Shape& size, const Shape& step) {
  static const Primitive& p = primitive("slice");
  const Shape shape = x.shape();
  require_length("slice", "start", start, signed_size(shape), x.at());
  require_length("slice", "size", size, signed_size(shape), x.at());
  require_length("slice", "step", step, signed_size(shape), x.at());
  const bool whole =
      size == shape &&
      std::all_of(start.begin(), start.end(), [](std::int64_t s) { return s == 0; }) &&
      std::all_of(step.begin(), step.end(), [](std::int64_t s) { return s == 1; });
  if (whole) return x.value();
  return apply_one(p, {{"start", {start}}, {"size", {size}}, {"step", {step}}}, {x.value()},
                   x.at());
}

Tensor flip(const Operand& x, const Shape& axes) {
  const Shape size = x.shape();
  Shape start(size.size(), 0);
  Shape step(size.size(), 1);
  for (std::int64_t axis : normal_axes("flip", axes, signed_size(size), x.at())) {
    const auto i = static_cast<std::size_t>(axis);
    if (size[i] < 2) continue;
    start[i] = size[i] - 1;
    step[i] = -1;
  }
  return slice(x, start, size, step);
}

Tensor pad(const Operand& x, const Operand& value, const Shape& low, const Shape& high,
           const Shape& interior) {
  static const Primitive& p = primitive("pad");
  const std::size_t rank = x.shape().size();
  const Shape between = interior.empty() ? Shape(rank, 0) : interior;
  return apply_one(p, {{"low", {low}}, {"high", {high}}, {"interior", {between}}},
                   {x.value(), fitted("pad", "a value", value, x.dtype())}, x.at());
}

Tensor concat(std::span<const Tensor> parts, std::int64_t axis, const Location& at) {
  static const Primitive& p = primitive("concat");
  const std::vector<Tensor> tensors = of_one_dtype("concat", parts, at);
  const std::int64_t normal = normal_axis("concat", axis, tensors[0].rank(at), at);
  if (tensors.size() == 1) return tensors[0];
  return apply(p, {{"axis", {normal}}}, tensors, at)[0];
}

Tensor concat(std::initializer_list<Operand> parts, std::int64_t axis, const Location& at) {
  return concat(values_of(parts), axis, at);
}

Tensor stack(std::span<const Tensor> parts, std::int64_t axis, const Location& at) {
  require(!parts.empty(), at, [] { return Complaint{"stack: no parts to join"}; });
  std::vector<TensorType> types;
  for (const Tensor& part : parts) types.push_back(part.type(at));
  const Shape shape = broadcast_shapes("stack", types, at);
  std::vector<Tensor> layers;
  for (const Tensor& part : parts) {
    layers.push_back(expand_dims(Operand(broadcast_to(Operand(part, at), shape), at), axis));
  }
  return concat(layers, axis, at);
}

Tensor stack(std::initializer_list<Operand> parts, std::int64_t axis, const Location& at) {
  return stack(values_of(parts), axis, at);
}

namespace {
/// Refuses counts below 0, and those that make an extent too large to write down.
void require_count(const char* operation, std::int64_t count, std::int64_t extent,
                   const Location& at) {
  require(count >= 0 && (extent == 0 || count <= INT64_MAX / extent), at, [&] {
    return Complaint{std::string(operation) + ": an axis of extent " + std::to_string(extent) +
                     " cannot repeat " + std::to_string(count) + " times"};
  });
}
}  // namespace

Tensor tile(const Operand& x, const Shape& counts) {
  const Shape shape = x.shape();
  const std::size_t rank = std::max(shape.size(), counts.size());
  Shape layers;  // count and extent of each axis, by turns
  Shape axes;
  Shape result;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool is_old = i + shape.size() >= rank;
    const std::int64_t extent = is_old ? shape[i + shape.size() - rank] : 1;
    const std::int64_t count = i + counts.size() < rank ? 1 : counts[i + counts.size() - rank];
    require_count("tile", count, extent, x.at());
    layers.push_back(count);
    if (is_old) axes.push_back(signed_size(layers));
    layers.push_back(extent);
    result.push_back(count * extent);
  }
  const Tensor laid = broadcast_in_dim(x, layers, axes);
  return reshape(Operand(laid, x.at()), result);
}

Tensor repeat(const Operand& x, std::int64_t count, std::int64_t axis) {
  Shape shape = x.shape();
  const std::int64_t along = normal_axis("repeat", axis, signed_size(shape), x.at());
  const auto i = static_cast<std::size_t>(along);
  require_count("repeat", count, shape[i], x.at());
  Shape copies = shape;
  copies.insert(copies.begin() + along + 1, count);
  const Shape axes = axes_without(copies.size(), {along + 1});
  shape[i] *= count;
  return reshape(Operand(broadcast_in_dim(x, copies, axes), x.at()), shape);
}

std::vector<Tensor> split(const Operand& x, std::int64_t count, std::int64_t axis) {
  const Shape shape = x.shape();
  const auto i = static_cast<std::size_t>(normal_axis("split", axis, signed_size(shape), x.at()));
  require(count > 0 && shape[i] % count == 0, x.at(), [&] {
    return Complaint{"split: axis " + std::to_string(i) + " of " + to_string(shape) +
                     " does not divide into " + std::to_string(count) + " equal parts"};
  });
  std::vector<Tensor> parts;
  Shape start(shape.size(), 0);
  Shape size = shape;
  size[i] = shape[i] / count;
  for (std::int64_t part = 0; part < count; ++part) {
    start[i] = part * size[i];
    parts.push_back(slice(x, start, size, Shape(shape.size(), 1)));
  }
  return parts;
}

Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis) {
  const Shape shape = x.shape();
  const auto i = static_cast<std::size_t>(normal_axis("roll", axis, signed_size(shape), x.at()));
  if (shape[i] == 0) return x.value();
  const std::int64_t moved = ((shift % shape[i]) + shape[i]) % shape[i];
  if (moved == 0) return x.value();
  const Shape step(shape.size(), 1);
  Shape start(shape.size(), 0);
  Shape size = shape;
  start[i] = shape[i] - moved;
  size[i] = moved;
  const Tensor front = slice(x, start, size, step);
  start[i] = 0;
  size[i] = shape[i] - moved;
  return concat({Operand(front, x.at()), Operand(slice(x, start, size, step), x.at())},
                static_cast<std::int64_t>(i), x.at());
}

namespace {
/// Column − row of each element of the last two axes, as i64.
Tensor offsets_from_diagonal(const char* operation, const Operand& x) {
  const Shape shape = x.shape();
  require(shape.size() >= 2, x.at(), [&] {
    return Complaint{std::string(operation) + ": takes a tensor of rank 2 or more, got " +
                     to_string(x.value().type(x.at()))};
  });
  const TensorType grid = i64[Shape(shape.end() - 2, shape.end())];
  return Operand(iota(grid, 1, x.at()), x.at()) - Operand(iota(grid, 0, x.at()), x.at());
}
}  // namespace

// `false` is the zero of every dtype: it promotes none.
Tensor tril(const Operand& x, std::int64_t k) {
  const Tensor offsets = offsets_from_diagonal("tril", x);
  return where(Operand(offsets, x.at()) <= Operand(k, x.at()), x, Operand(false, x.at()));
}

Tensor triu(const Operand& x, std::int64_t k) {
  const Tensor offsets = offsets_from_diagonal("triu", x);
  return where(Operand(offsets, x.at()) >= Operand(k, x.at()), x, Operand(false, x.at()));
}

Tensor diagonal(const Operand& x) {
  static_cast<void>(offsets_from_diagonal("diagonal", x));
  const Shape shape = x.shape();
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t columns = shape[shape.size() - 1];
  const std::int64_t n = std::min(rows, columns);
  // The diagonal of a row-major matrix is every (columns + 1)-th element.
  Shape flat(shape.begin(), shape.end() - 2);
  flat.push_back(rows * columns);
  const Tensor elements = reshape(x, flat);
  Shape size = flat;
  size.back() = n;
  Shape step(flat.size(), 1);
  step.back() = columns + 1;
  return slice(Operand(elements, x.at()), Shape(flat.size(), 0), size, step);
}

}  // namespace hom
