// core/primitives/reductions.cc -- reductions over axes and positions of extremes
#include <hom/core/operations/reductions.h>

#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

void require_axis(const Typing& typing, std::int64_t axis) {
  typing.require(0 <= axis && axis < typing.operands[0].rank(), [&] {
    return Complaint{typing.primitive.name + ": axis " + std::to_string(axis) + " of " +
                     to_string(typing.operands[0])};
  });
}

void require_elements(const Typing& typing, std::int64_t axis) {
  typing.require(typing.operands[0].shape[static_cast<std::size_t>(axis)] > 0, [&] {
    return Complaint{typing.primitive.name + ": axis " + std::to_string(axis) + " of " +
                         to_string(typing.operands[0]) +
                         " is empty, and the extreme of no elements does not exist",
                     "max_or and min_or take an initial value"};
  });
}

std::vector<TensorType> reduced_type(const Typing& typing) {
  require_dtypes(typing);
  const TensorType& x = typing.operands[0];
  const Shape& axes = typing.attributes.shape("axes");
  const bool extreme =
      typing.primitive.name == "reduce_max" || typing.primitive.name == "reduce_min";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    require_axis(typing, axes[i]);
    typing.require(i == 0 || axes[i - 1] < axes[i], [&] {
      return Complaint{typing.primitive.name + ": axes " + to_string(axes) + " do not ascend"};
    });
    if (extreme) require_elements(typing, axes[i]);
  }
  Shape shape;
  for (std::int64_t axis : axes_without(x.shape.size(), axes))
    shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  return {x.dtype[shape]};
}

/// The result of a reduction repeated along the reduced axes.
Tensor repeated(const Tensor& y, const Shape& shape, const Shape& axes) {
  return broadcast_in_dim(y, shape, axes_without(shape.size(), axes));
}

std::vector<Tensor> derivative_of_extreme(const Linearizing& at) {
  const Shape& axes = at.attributes.shape("axes");
  const Dtype dtype = at.x[0].dtype();
  const Shape shape = at.x[0].shape();
  // 16 bits could not count the ties of a large tensor.
  const Dtype counting = dtype.size() == 2 ? f32 : dtype;
  const Tensor ties = (at.x[0] == repeated(at.y[0], shape, axes)).astype(counting);
  const Tensor weight = ties / repeated(sum(ties, Axes(axes)), shape, axes);
  return {sum(scale(weight.astype(dtype), at.dx[0]), Axes(axes))};
}

/// A balanced tree of products, so that factors that are 0 need no division: ⌈log₂ n⌉ levels, O(n)
/// work.
std::vector<Tensor> derivative_of_product(const Linearizing& at) {
  const Shape& axes = at.attributes.shape("axes");
  const Shape shape = at.x[0].shape();
  Shape permutation = axes_without(shape.size(), axes);
  Shape flat;
  for (std::int64_t axis : permutation) flat.push_back(shape[static_cast<std::size_t>(axis)]);
  std::int64_t n = 1;
  for (std::int64_t axis : axes) {
    permutation.push_back(axis);
    n *= shape[static_cast<std::size_t>(axis)];
  }
  if (n == 0) return {Tensor()};
  flat.push_back(n);
  Tensor product = reshape(transpose(at.x[0], permutation), flat);
  Tensor tangent = reshape(transpose(at.dx[0], permutation), flat);
  const auto part = [&](const Tensor& whole, std::int64_t start, std::int64_t size) {
    return whole(ellipsis, Range{start, start + size});
  };
  while (n > 1) {
    const std::int64_t half = n / 2;
    const Tensor a = part(product, 0, half);
    const Tensor b = part(product, half, half);
    Tensor next = a * b;
    Tensor next_tangent = scale(b, part(tangent, 0, half)) + scale(a, part(tangent, half, half));
    if (n % 2 != 0) {
      next = concat({next, part(product, n - 1, 1)}, -1);
      next_tangent = concat({next_tangent, part(tangent, n - 1, 1)}, -1);
    }
    product = next;
    tangent = next_tangent;
    n = half + n % 2;
  }
  return {reshape(tangent, at.y[0].shape())};
}

Primitive reduction(const char* name, DtypeSet dtypes) {
  return {.name = name,
          .attributes = {{"axes", Kind::shape}},
          .dtypes = dtypes,
          .type = reduced_type,
          .batch =
              [](const Batching& at) {
                const Shape axes = past_lanes(at.attributes.shape("axes"));
                return applied(at, with(at, "axes", {axes}), at.x);
              },
          .shapes = "s → s without axes"};
}

}  // namespace

void add_reduction_primitives(PrimitiveTable& table) {
  Primitive sum_ = reduction("reduce_sum", numbers);
  sum_.simplify = zeros_of_zeros;
  sum_.derivative = linear_in(1);
  sum_.transpose = [](const Transposing& at) {
    at.add(0, repeated(at.ct[0], at.types[0].shape, at.attributes.shape("axes")));
  };
  sum_.formula = "reduce_sum dx";
  table.add(std::move(sum_));

  Primitive product = reduction("reduce_prod", numbers);
  product.derivative = derivative_of_product;
  product.formula = "Σ dxᵢ·Π of the others, by a balanced tree";
  product.cost_factor = 52;  // for up to 16 factors; three tenths more for each doubling
  table.add(std::move(product));

  for (const char* name : {"reduce_max", "reduce_min"}) {
    Primitive extreme = reduction(name, numbers);
    extreme.derivative = derivative_of_extreme;
    extreme.formula = "mean of dx over the ties";
    extreme.cost_factor = 20;
    table.add(std::move(extreme));
  }
  for (const char* name : {"reduce_and", "reduce_or"}) {
    Primitive logical = reduction(name, booleans);
    logical.no_derivative = "the result is bool";
    logical.cost_factor = 1;
    table.add(std::move(logical));
  }
  for (const char* name : {"argmax", "argmin"}) {
    table.add({.name = name,
               .attributes = {{"axis", Kind::integer}},
               .dtypes = every_dtype,
               .type =
                   [](const Typing& typing) {
                     require_dtypes(typing);
                     const std::int64_t axis = typing.attributes.integer("axis");
                     require_axis(typing, axis);
                     require_elements(typing, axis);
                     Shape shape = typing.operands[0].shape;
                     shape.erase(shape.begin() + axis);
                     return std::vector{i64[shape]};
                   },
               .no_derivative = "a position is an integer",
               .batch = batch_along_axis,
               .cost_factor = 1,
               .shapes = "s → i64 s without axis"});
  }
}

}  // namespace hom
