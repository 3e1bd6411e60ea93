// backends/optimise/contractions.cc -- dot_general of views, of one term, and in another order
//
// The bits of a product depend on its terms and their number alone (backends/cpu/contraction.cc),
// so operands may be seen otherwise as long as the terms of each sum stay in order.
#include <algorithm>

#include <hom/backends/optimise/axes_of_views.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>
#include <hom/core/axes.h>

namespace hom::optimiser {
namespace {

/// One side of a contraction: an operand with its contracted and batch axes.
struct Side {
  Slot x;
  Shape contract, batch;

  Shape taken() const {
    Shape axes = contract;
    axes.insert(axes.end(), batch.begin(), batch.end());
    return axes;
  }
};

struct Dot {
  Side sides[2];

  Side& operator[](std::size_t i) { return sides[i]; }
  const Side& operator[](std::size_t i) const { return sides[i]; }
};

Dot dot_of(Slot lhs, Slot rhs, const Attributes& a) {
  return {{{lhs, a.shape("lhs_contract"), a.shape("lhs_batch")},
           {rhs, a.shape("rhs_contract"), a.shape("rhs_batch")}}};
}

Slot append(const Rewriting& at, const Dot& dot) {
  return at.append(words().dot_general, {dot[0].x, dot[1].x},
                   {{"lhs_contract", {dot[0].contract}},
                    {"rhs_contract", {dot[1].contract}},
                    {"lhs_batch", {dot[0].batch}},
                    {"rhs_batch", {dot[1].batch}}});
}

Shape free_axes(const Rewriting& at, const Side& side) {
  return axes_without(at.type(side.x).shape.size(), side.taken());
}

/// A transposed operand, where the axes that stay keep their order: they are named instead.
std::optional<Slot> of_transpose(const Rewriting& at) {
  Dot dot = dot_of(at[0], at[1], at.attributes);
  bool changed = false;
  for (Side& side : dot.sides) {
    const auto inner = at.match(side.x, words().transpose);
    if (!inner) continue;
    const Shape& permutation = inner->attributes.shape("permutation");
    if (!ascends(at_places(permutation, free_axes(at, side)))) continue;
    side = {(*inner)[0], at_places(permutation, side.contract), at_places(permutation, side.batch)};
    changed = true;
  }
  return changed ? std::optional(append(at, dot)) : std::nullopt;
}

/// (x·y)ᵀ = y·x, contracted along the same axes, where the transpose swaps the axes of the two.
std::optional<Slot> transposed(const Rewriting& at) {
  const auto step = at.match(at[0], words().dot_general);
  if (!step || !at.is_used_once(at[0])) return std::nullopt;
  const Dot dot = dot_of((*step)[0], (*step)[1], step->attributes);
  const auto batch = signed_size(dot[0].batch);
  const auto left = signed_size(free_axes(at, dot[0]));
  const auto right = signed_size(free_axes(at, dot[1]));
  Shape swapped = iota_shape(place(batch));
  for (std::int64_t i = 0; i < right; ++i) swapped.push_back(batch + left + i);
  for (std::int64_t i = 0; i < left; ++i) swapped.push_back(batch + i);
  if (at.attributes.shape("permutation") != swapped) return std::nullopt;
  return append(at, {{dot[1], dot[0]}});
}

/// An operand that is repeated along axes that stay: so is the result.
std::optional<Slot> of_copies(const Rewriting& at) {
  const Vocabulary& w = words();
  Dot dot = dot_of(at[0], at[1], at.attributes);
  for (std::size_t s = 0; s < 2; ++s) {
    Side& side = dot[s];
    const auto inner = at.match(side.x, w.broadcast);
    if (!inner) continue;
    const Shape& from = inner->attributes.shape("axes");
    const Shape whole = at.type(side.x).shape;
    const Shape free = free_axes(at, side);
    // Where they are in the result.
    const std::int64_t first =
        signed_size(side.batch) + (s == 0 ? 0 : signed_size(free_axes(at, dot[0])));
    Shape dropped;
    Shape kept_in_result = iota_shape(place(first));
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (contains(from, free[i])) {
        kept_in_result.push_back(first + static_cast<std::int64_t>(i));
      } else {
        dropped.push_back(free[i]);
      }
    }
    if (dropped.empty()) continue;
    const std::int64_t after = first + signed_size(free);
    for (std::int64_t axis = after; axis < at.result.rank(); ++axis) kept_in_result.push_back(axis);
    const Shape kept = axes_without(whole.size(), dropped);
    const auto moved = [&](const Shape& axes) {
      Shape places;
      for (std::int64_t axis : axes)
        places.push_back(std::find(kept.begin(), kept.end(), axis) - kept.begin());
      return places;
    };
    const Slot x = at.append(w.broadcast, {(*inner)[0]},
                             {{"shape", {at_places(whole, kept)}}, {"axes", {moved(from)}}});
    side = {x, moved(side.contract), moved(side.batch)};
    const Slot product = append(at, dot);
    return at.append(w.broadcast, {product},
                     {{"shape", {at.result.shape}}, {"axes", {kept_in_result}}});
  }
  return std::nullopt;
}

/// Sums of one term are products: each operand with its axes as the result has them.
std::optional<Slot> of_one_term(const Rewriting& at) {
  const Vocabulary& w = words();
  // 16 bits are rounded after the sum, which would come to lie between.
  if (at.is_float() && at.result.dtype.size() == 2) return std::nullopt;
  const Dot dot = dot_of(at[0], at[1], at.attributes);
  const Shape shape = at.type(dot[0].x).shape;
  for (std::int64_t axis : dot[0].contract) {
    if (shape[place(axis)] != 1) return std::nullopt;
  }
  Slot factors[2];
  std::int64_t next = signed_size(dot[0].batch);
  for (std::size_t s = 0; s < 2; ++s) {
    const Side& side = dot[s];
    const Shape free = free_axes(at, side);
    const Shape whole = at.type(side.x).shape;
    Shape order = side.batch;
    order.insert(order.end(), free.begin(), free.end());
    const Shape kept = at_places(whole, order);
    order.insert(order.end(), side.contract.begin(), side.contract.end());
    const Slot ordered = at.append(w.transpose, {side.x}, {{"permutation", {order}}});
    const Slot reshaped = at.append(w.reshape, {ordered}, {{"shape", {kept}}});
    Shape axes = iota_shape(side.batch.size());
    for (std::size_t i = 0; i < free.size(); ++i) axes.push_back(next++);
    factors[s] =
        at.append(w.broadcast, {reshaped}, {{"shape", {at.result.shape}}, {"axes", {axes}}});
  }
  const Slot product = at.append(w.mul, {factors[0], factors[1]});
  return at.is_float() ? at.append(w.add, {product, at.literal(0)}) : product;
}

/// A vector or matrix in a chain of products: one contracted axis, perhaps one more.
struct Link {
  Slot x;
  std::int64_t contract;
  std::optional<std::int64_t> free;
  std::int64_t terms;
  std::int64_t rows;
};

std::optional<Link> link_of(const Rewriting& at, const Side& side) {
  const TensorType type = at.type(side.x);
  if (type.rank() > 2 || !side.batch.empty() || side.contract.size() != 1) return std::nullopt;
  Link link{side.x, side.contract[0], std::nullopt, type.shape[place(side.contract[0])], 1};
  if (type.rank() == 2) {
    link.free = 1 - link.contract;
    link.rows = type.shape[place(*link.free)];
  }
  return link;
}

/// (p·q)·y = p·(q·y), where that multiplies less.
std::optional<Slot> in_another_order(const Rewriting& at) {
  const Dot outer = dot_of(at[0], at[1], at.attributes);
  for (std::size_t s = 0; s < 2; ++s) {
    const auto step = at.match(outer[s].x, words().dot_general);
    const auto y = link_of(at, outer[1 - s]);
    if (!step || !y || !at.is_used_once(outer[s].x)) continue;
    if (outer[s].contract.size() != 1 || !outer[s].batch.empty()) continue;
    const Dot inner = dot_of((*step)[0], (*step)[1], step->attributes);
    const auto p = link_of(at, inner[0]);
    const auto q = link_of(at, inner[1]);
    if (!p || !q) continue;
    // Which of the two has the axis that is contracted with y.
    const bool is_in_p = p->free && outer[s].contract[0] == 0;
    const Link& near = is_in_p ? *p : *q;
    const Link& far = is_in_p ? *q : *p;
    const auto count = [](std::int64_t a, std::int64_t b, std::int64_t c) {
      return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
    };
    const double before = count(p->rows, p->terms, q->rows) + count(far.rows, near.rows, y->rows);
    const double after =
        count(near.terms, near.rows, y->rows) + count(far.rows, far.terms, y->rows);
    if (after >= before) continue;
    const Slot product = append(at, {{{near.x, {*near.free}, {}}, {y->x, {y->contract}, {}}}});
    const Side far_side{far.x, {far.contract}, {}};
    const Side product_side{product, {0}, {}};
    return s == 0 ? append(at, {{far_side, product_side}}) : append(at, {{product_side, far_side}});
  }
  return std::nullopt;
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.dot_general},
           {"dot(transpose x, y) = dot(x, y) along other axes",
            "where the axes that stay keep their order; terms stay in order"},
           of_transpose);
  add_rule(rules, {&w.transpose},
           {"transpose(dot(x, y)) = dot(y, x)",
            "where it swaps the axes of x and y: products commute, terms stay in order"},
           transposed);
  add_rule(rules, {&w.dot_general},
           {"dot(broadcast x, y) = broadcast(dot(x, y))",
            "along axes that stay: every copy has the same result"},
           of_copies);
  add_rule(rules, {&w.dot_general},
           {"dot(x, y) of one term = x·y + 0",
            "sums start from +0; not of 16-bit floats, which are rounded after the sum. Two steps "
            "for one, that fuse with others"},
           of_one_term);
  add_rule(
      rules, {&w.dot_general},
      {"(p·q)·y = p·(q·y)",
       "of matrices and vectors, where that multiplies less: other sums, other roundings", true},
      in_another_order);
  return rules;
}

}  // namespace

Pass contractions() {
  static const Rules rules = make_rules();
  return pass_of_rules("contractions", "dot_general of views, of one term, and in another order",
                       rules);
}

}  // namespace hom::optimiser
