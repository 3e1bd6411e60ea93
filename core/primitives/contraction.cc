// core/primitives/contraction.cc -- dot_general, bilinear
#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

Contraction contraction_of(const Attributes& attributes) {
  return {attributes.shape("lhs_contract"), attributes.shape("rhs_contract"),
          attributes.shape("lhs_batch"), attributes.shape("rhs_batch")};
}

Shape joined(const Shape& a, const Shape& b) {
  Shape all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

void require_axes(const Typing& typing, const char* side, const TensorType& x, const Shape& axes) {
  Shape sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  const bool distinct = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  const bool inside = sorted.empty() || (sorted.front() >= 0 && sorted.back() < x.rank());
  typing.require(distinct && inside, [&] {
    return Complaint{std::string("dot_general: ") + side + " axes " + to_string(axes) +
                     " do not name different axes of " + to_string(x)};
  });
}

std::vector<TensorType> contraction_type(const Typing& typing) {
  require_dtypes(typing);
  const TensorType& a = typing.operands[0];
  const TensorType& b = typing.operands[1];
  const Contraction c = contraction_of(typing.attributes);
  require_axes(typing, "lhs", a, joined(c.lhs_batch, c.lhs_contract));
  require_axes(typing, "rhs", b, joined(c.rhs_batch, c.rhs_contract));
  const auto require_pairs = [&](const char* what, const Shape& lhs, const Shape& rhs) {
    bool equal = lhs.size() == rhs.size();
    for (std::size_t i = 0; equal && i < lhs.size(); ++i) {
      equal =
          a.shape[static_cast<std::size_t>(lhs[i])] == b.shape[static_cast<std::size_t>(rhs[i])];
    }
    typing.require(equal, [&] {
      return Complaint{std::string("dot_general: ") + what + " extents differ: lhs " +
                       to_string(a) + " axes " + to_string(lhs) + " · rhs " + to_string(b) +
                       " axes " + to_string(rhs)};
    });
  };
  require_pairs("batch", c.lhs_batch, c.rhs_batch);
  require_pairs("contracted", c.lhs_contract, c.rhs_contract);
  Shape shape;
  for (std::int64_t axis : c.lhs_batch) shape.push_back(a.shape[static_cast<std::size_t>(axis)]);
  for (std::int64_t axis : axes_without(a.shape.size(), joined(c.lhs_batch, c.lhs_contract))) {
    shape.push_back(a.shape[static_cast<std::size_t>(axis)]);
  }
  for (std::int64_t axis : axes_without(b.shape.size(), joined(c.rhs_batch, c.rhs_contract))) {
    shape.push_back(b.shape[static_cast<std::size_t>(axis)]);
  }
  return {a.dtype[shape]};
}

std::vector<Tensor> derivative_of_contraction(const Linearizing& at) {
  const Contraction c = contraction_of(at.attributes);
  Tensor tangent;
  if (!at.dx[0].is_empty()) tangent = dot_general(at.dx[0], at.x[1], c);
  if (!at.dx[1].is_empty()) {
    const Tensor other = dot_general(at.x[0], at.dx[1], c);
    tangent = tangent.is_empty() ? other : tangent + other;
  }
  return {tangent};
}

/// The cotangent of one operand: contract the result's cotangent with the other operand over the
/// other's free axes, then put the axes back in the operand's order.
void transpose_contraction(const Transposing& at) {
  if (at.linear[0] && at.linear[1]) at.not_linear("both factors depend on the input");
  const Contraction c = contraction_of(at.attributes);
  const bool left = at.linear[0];
  const Shape& own_batch = left ? c.lhs_batch : c.rhs_batch;
  const Shape& own_contract = left ? c.lhs_contract : c.rhs_contract;
  const Shape& other_batch = left ? c.rhs_batch : c.lhs_batch;
  const Shape& other_contract = left ? c.rhs_contract : c.lhs_contract;
  const std::size_t own_rank = at.types[left ? 0 : 1].shape.size();
  const std::size_t other_rank = at.types[left ? 1 : 0].shape.size();
  const Shape own_free = axes_without(own_rank, joined(own_batch, own_contract));
  const Shape other_free = axes_without(other_rank, joined(other_batch, other_contract));
  const std::size_t batch = own_batch.size();
  const Shape ct_batch = iota_shape(batch);
  const Shape ct_other = iota_shape(
      other_free.size(), static_cast<std::int64_t>(batch + (left ? own_free.size() : 0)));

  // The axes of the product: batch, own free, then the contracted axes in the order in which the
  // other operand has them.
  const Tensor product =
      dot_general(at.ct[0], at.x[left ? 1 : 0], {ct_other, other_free, ct_batch, other_batch});
  Shape order = joined(own_batch, own_free);
  const Shape other_contract_in_place = axes_without(other_rank, joined(other_batch, other_free));
  for (std::int64_t axis : other_contract_in_place) {
    const auto found = std::find(other_contract.begin(), other_contract.end(), axis);
    order.push_back(own_contract[static_cast<std::size_t>(found - other_contract.begin())]);
  }
  Shape permutation(own_rank);
  for (std::size_t i = 0; i < own_rank; ++i)
    permutation[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  at.add(left ? 0 : 1, transpose(product, permutation));
}

/// Lanes of both operands are paired like any batch axis; those of one are a free axis of the
/// result, and nothing is copied.
std::vector<Tensor> batch_contraction(const Batching& at) {
  Contraction c = contraction_of(at.attributes);
  const auto lanes = static_cast<std::int64_t>(c.lhs_batch.size());
  if (at.batched[0]) {
    c.lhs_contract = past_lanes(c.lhs_contract);
    c.lhs_batch = past_lanes(c.lhs_batch);
  }
  if (at.batched[1]) {
    c.rhs_contract = past_lanes(c.rhs_contract);
    c.rhs_batch = past_lanes(c.rhs_batch);
  }
  if (at.batched[0] && at.batched[1]) {
    c.lhs_batch = with_lanes(0, c.lhs_batch);
    c.rhs_batch = with_lanes(0, c.rhs_batch);
    return {dot_general(at.x[0], at.x[1], c)};
  }
  const std::int64_t lhs_free = at.types[0].rank() - lanes - signed_size(c.lhs_contract);
  const Tensor product = dot_general(at.x[0], at.x[1], c);
  return {move_axis(product, at.batched[0] ? lanes : lanes + lhs_free, 0)};
}

}  // namespace

void add_contraction_primitives(PrimitiveTable& table) {
  table.add({.name = "dot_general",
             .min_operands = 2,
             .max_operands = 2,
             .attributes = {{"lhs_contract", Kind::shape},
                            {"rhs_contract", Kind::shape},
                            {"lhs_batch", Kind::shape},
                            {"rhs_batch", Kind::shape}},
             .dtypes = numbers,
             .type = contraction_type,
             .derivative = derivative_of_contraction,
             .transpose = transpose_contraction,
             .batch = batch_contraction,
             .cost_factor = 8,
             .shapes = "s, t → batch + free of s + free of t",
             .formula = "dx·y + x·dy"});
}

}  // namespace hom
