// core/primitives/cumulative.cc -- running reductions along an axis
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

/// A value, its tangent, and (for extremes) how many elements tie for it.
struct Running {
  Tensor value;
  Tensor tangent;
  Tensor ties;
};

using CombineRunning = Running (*)(const Running& earlier, const Running& later);

Running multiplied(const Running& earlier, const Running& later) {
  return {earlier.value * later.value,
          scale(later.value, earlier.tangent) + scale(earlier.value, later.tangent),
          {}};
}

Running extreme(const Running& earlier, const Running& later, const Tensor& earlier_wins,
                const Tensor& later_wins) {
  const auto chosen = [&](const Tensor& a, const Tensor& b, const Tensor& both) {
    return where(earlier_wins, a, where(later_wins, b, both));
  };
  return {chosen(earlier.value, later.value, later.value),
          chosen(earlier.tangent, later.tangent, earlier.tangent + later.tangent),
          chosen(earlier.ties, later.ties, earlier.ties + later.ties)};
}

Running larger(const Running& earlier, const Running& later) {
  return extreme(earlier, later, earlier.value > later.value, later.value > earlier.value);
}

Running smaller(const Running& earlier, const Running& later) {
  return extreme(earlier, later, earlier.value < later.value, later.value < earlier.value);
}

/// The tangent of a running reduction by an associative `combine`, in ⌈log₂ n⌉ levels (Hillis and
/// Steele, "Data parallel algorithms", 1986); products need no division, so that zeros are right.
std::vector<Tensor> derivative_by_levels(const Linearizing& at, CombineRunning combine,
                                         bool count_ties) {
  const std::int64_t axis = at.attributes.integer("axis");
  const bool reverse = at.attributes.boolean("reverse");
  const auto oriented = [&](const Tensor& x) { return reverse ? flip(x, {axis}) : x; };
  const Shape shape = at.x[0].shape();
  const std::int64_t n = shape[static_cast<std::size_t>(axis)];
  Running all{oriented(at.x[0]), oriented(at.dx[0]), count_ties ? ones_like(at.x[0]) : Tensor()};
  const auto part = [&](const Tensor& x, std::int64_t start, std::int64_t size) {
    if (x.is_empty()) return Tensor();
    Shape starts(shape.size(), 0);
    Shape sizes = shape;
    starts[static_cast<std::size_t>(axis)] = start;
    sizes[static_cast<std::size_t>(axis)] = size;
    return slice(x, starts, sizes, Shape(shape.size(), 1));
  };
  const auto parts = [&](std::int64_t start, std::int64_t size) {
    return Running{part(all.value, start, size), part(all.tangent, start, size),
                   part(all.ties, start, size)};
  };
  for (std::int64_t distance = 1; distance < n; distance *= 2) {
    const Running head = parts(0, distance);
    const Running tail = combine(parts(0, n - distance), parts(distance, n - distance));
    all.value = concat({head.value, tail.value}, axis);
    all.tangent = concat({head.tangent, tail.tangent}, axis);
    if (count_ties) all.ties = concat({head.ties, tail.ties}, axis);
  }
  if (!count_ties) return {oriented(all.tangent)};
  return {oriented(scale(1 / all.ties, all.tangent))};
}

Primitive running(const char* name) {
  return {.name = name,
          .attributes = {{"axis", Kind::integer}, {"reverse", Kind::boolean}},
          .dtypes = numbers,
          .type =
              [](const Typing& typing) {
                require_dtypes(typing);
                const std::int64_t axis = typing.attributes.integer("axis");
                typing.require(0 <= axis && axis < typing.operands[0].rank(), [&] {
                  return Complaint{typing.primitive.name + ": axis " + std::to_string(axis) +
                                   " of " + to_string(typing.operands[0])};
                });
                return std::vector{typing.operands[0]};
              },
          .batch = batch_along_axis,
          .shapes = "s → s"};
}

}  // namespace

void add_cumulative_primitives(PrimitiveTable& table) {
  Primitive sum_ = running("cumsum");
  sum_.simplify = zeros_of_zeros;
  sum_.derivative = linear_in(1);
  sum_.transpose = [](const Transposing& at) {
    at.add(0, cumsum(at.ct[0], at.attributes.integer("axis"), !at.attributes.boolean("reverse")));
  };
  sum_.formula = "cumsum dx";
  table.add(std::move(sum_));

  // The factors hold for extents up to 16; beyond, they grow by three tenths with each doubling.
  Primitive product = running("cumprod");
  product.derivative = [](const Linearizing& at) {
    return derivative_by_levels(at, multiplied, false);
  };
  product.formula = "running Σ dxᵢ·Π of the others, ⌈log₂ n⌉ levels";
  product.cost_factor = 52;
  table.add(std::move(product));

  Primitive max_ = running("cummax");
  max_.derivative = [](const Linearizing& at) { return derivative_by_levels(at, larger, true); };
  max_.formula = "mean of dx over the ties so far, ⌈log₂ n⌉ levels";
  max_.cost_factor = 120;
  table.add(std::move(max_));

  Primitive min_ = running("cummin");
  min_.derivative = [](const Linearizing& at) { return derivative_by_levels(at, smaller, true); };
  min_.formula = "mean of dx over the ties so far, ⌈log₂ n⌉ levels";
  min_.cost_factor = 120;
  table.add(std::move(min_));
}

}  // namespace hom
