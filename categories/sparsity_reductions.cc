// categories/sparsity_reductions.cc -- rules for reductions, running reductions and contractions
#include <algorithm>

#include <hom/categories/sparsity_rule.h>
#include <hom/core/axes.h>
#include <hom/core/operations/shaping.h>

namespace hom::categories {
namespace {

/// Axes in another order, row-major.
Tensor arranged(const Tensor& x, std::initializer_list<Shape> axes) {
  Shape permutation;
  for (const Shape& list : axes) permutation.insert(permutation.end(), list.begin(), list.end());
  return row_major(transpose(x, permutation));
}

std::int64_t extent_of(const Shape& shape, const Shape& axes) {
  std::int64_t extent = 1;
  for (std::int64_t axis : axes) extent *= shape[static_cast<std::size_t>(axis)];
  return extent;
}

Tensor reduced(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  return united_over(sets, x[0].sets, step.attributes.shape("axes"));
}

/// Each element on those before it, or behind it, along the axis.
Tensor running(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  const Shape& shape = x[0].type.shape;
  const std::int64_t axis = step.attributes.integer("axis");
  const Tensor lines = arranged(x[0].sets, {axes_without(shape.size(), {axis}), {axis}});
  const std::int64_t length = shape[static_cast<std::size_t>(axis)];
  SetTensor result(lines.shape());
  const bool reverse = step.attributes.boolean("reverse");
  IndexSets::Id so_far = IndexSets::none;
  for (std::int64_t k = 0; k < result.size(); ++k) {
    const std::int64_t place = reverse ? result.size() - 1 - k : k;
    if (k % length == 0) so_far = IndexSets::none;
    so_far = sets.unite(so_far, ids(lines)[static_cast<std::size_t>(place)]);
    result[place] = so_far;
  }
  return move_axis(result.tensor(), -1, axis);
}

/// Both parts of a transform on both parts of what lies along the axis.
std::vector<Tensor> transformed(IndexSets& sets, const Operation& step,
                                std::span<const Dependences> x) {
  const Shape& shape = step.results[0].shape;
  const Shape axis{step.attributes.integer("axis")};
  const Tensor both = united(sets, x[0].sets, x[1].sets);
  const Tensor all =
      broadcast_in_dim(united_over(sets, both, axis), shape, axes_without(shape.size(), axis));
  return {all, all};
}

/// One operand of a contraction as [batches, rows, terms].
struct Side {
  std::int64_t batches = 1;
  std::int64_t rows = 1;
  std::int64_t terms = 1;
  /// Row-major in that shape; either may be empty.
  Tensor sets;
  Tensor known;
  bool has_known_zeros = false;

  Side(const Operation& step, std::span<const Dependences> x, std::size_t operand) {
    const Attributes& a = step.attributes;
    const Shape& shape = x[operand].type.shape;
    const Shape& batch = a.shape(operand == 0 ? "lhs_batch" : "rhs_batch");
    const Shape& contract = a.shape(operand == 0 ? "lhs_contract" : "rhs_contract");
    Shape used = batch;
    used.insert(used.end(), contract.begin(), contract.end());
    const Shape free = axes_without(shape.size(), used);
    batches = extent_of(shape, batch);
    rows = extent_of(shape, free);
    terms = extent_of(shape, contract);
    if (!x[operand].sets.is_empty()) sets = arranged(x[operand].sets, {batch, free, contract});
    if (x[operand].known.is_empty()) return;
    known = arranged(x[operand].known, {batch, free, contract});
    const std::vector<double> values = known.to_vector();
    has_known_zeros = std::find(values.begin(), values.end(), 0.0) != values.end();
  }

  std::span<const IndexSets::Id> row(std::int64_t number) const {
    return ids(sets).subspan(static_cast<std::size_t>(number * terms),
                             static_cast<std::size_t>(terms));
  }
  /// For each row of each batch the union of its terms.
  std::vector<IndexSets::Id> row_unions(IndexSets& table) const {
    std::vector<IndexSets::Id> unions(static_cast<std::size_t>(batches * rows), IndexSets::none);
    if (sets.is_empty()) return unions;
    for (std::size_t k = 0; k < unions.size(); ++k)
      unions[k] = table.unite(row(static_cast<std::int64_t>(k)));
    return unions;
  }
  /// For each row of each batch the terms that are not 0, where the side is known.
  std::vector<std::vector<std::size_t>> terms_kept() const {
    std::vector<std::vector<std::size_t>> kept(static_cast<std::size_t>(batches * rows));
    const std::vector<double> values = known.to_vector();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto length = static_cast<std::size_t>(terms);
      if (values[k] != 0) kept[k / length].push_back(k % length);
    }
    return kept;
  }
};

/// Of a side times one that is known and has zeros: exactly the terms that count.
std::vector<IndexSets::Id> sparse_product(IndexSets& sets, const Side& varying, const Side& fixed,
                                          bool varying_is_lhs) {
  const auto kept = fixed.terms_kept();
  const std::int64_t across = varying.rows * fixed.rows;
  std::vector<IndexSets::Id> result(static_cast<std::size_t>(varying.batches * across));
  std::vector<IndexSets::Id> terms;
  for (std::int64_t b = 0; b < varying.batches; ++b) {
    for (std::int64_t i = 0; i < varying.rows; ++i) {
      const auto row = varying.row(b * varying.rows + i);
      for (std::int64_t j = 0; j < fixed.rows; ++j) {
        terms.clear();
        for (std::size_t k : kept[static_cast<std::size_t>(b * fixed.rows + j)])
          terms.push_back(row[k]);
        const std::int64_t place = varying_is_lhs ? i * fixed.rows + j : j * varying.rows + i;
        result[static_cast<std::size_t>(b * across + place)] = sets.unite(terms);
      }
    }
  }
  return result;
}

Tensor contraction(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  const Side lhs(step, x, 0);
  const Side rhs(step, x, 1);
  SetTensor result(step.results[0].shape);
  if (lhs.has_known_zeros || rhs.has_known_zeros) {
    const std::vector<IndexSets::Id> all = lhs.has_known_zeros
                                               ? sparse_product(sets, rhs, lhs, false)
                                               : sparse_product(sets, lhs, rhs, true);
    for (std::int64_t k = 0; k < result.size(); ++k) result[k] = all[static_cast<std::size_t>(k)];
    return result.tensor();
  }
  const std::vector<IndexSets::Id> from_lhs = lhs.row_unions(sets);
  const std::vector<IndexSets::Id> from_rhs = rhs.row_unions(sets);
  for (std::int64_t k = 0; k < result.size(); ++k) {
    const std::int64_t row = k / rhs.rows;
    const std::int64_t batch = row / lhs.rows;
    result[k] = sets.unite(from_lhs[static_cast<std::size_t>(row)],
                           from_rhs[static_cast<std::size_t>(batch * rhs.rows + k % rhs.rows)]);
  }
  return result.tensor();
}

}  // namespace

Tensor united_over(IndexSets& sets, const Tensor& of, const Shape& axes) {
  const Shape shape = of.shape();
  const Shape kept = axes_without(shape.size(), axes);
  const Tensor groups = arranged(of, {kept, axes});
  const auto length = static_cast<std::size_t>(extent_of(shape, axes));
  Shape outer;
  for (std::int64_t axis : kept) outer.push_back(shape[static_cast<std::size_t>(axis)]);
  SetTensor result(outer);
  for (std::int64_t k = 0; k < result.size(); ++k)
    result[k] = sets.unite(ids(groups).subspan(static_cast<std::size_t>(k) * length, length));
  return result.tensor();
}

void add_reduction_sparsity(SparsityRules& rules) {
  for (const char* name : {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min"})
    rules[name] = reduced;
  for (const char* name : {"cumsum", "cumprod", "cummax", "cummin"}) rules[name] = running;
  rules["dot_general"] = contraction;
  rules["fft"] = transformed;
}

}  // namespace hom::categories
