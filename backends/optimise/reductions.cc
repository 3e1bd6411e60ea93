// backends/optimise/reductions.cc -- reductions of what is repeated, reordered, or reduced already
//
// The terms of a reduction are combined in the order in which the reduced axes count them, row by
// row. Rules keep that order, except where it does not matter: of integers, and of bool.
#include <algorithm>

#include <hom/backends/optimise/axes_of_views.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>
#include <hom/core/axes.h>

namespace hom::optimiser {
namespace {

bool is_sum(const Rewriting& at) { return &at.primitive == &words().reduce_sum; }
/// Whether the order of terms may show in the bits.
bool has_order(const Rewriting& at) { return at.is_float(); }

Slot reduced(const Rewriting& at, Slot x, const Shape& axes) {
  return at.append(at.primitive, {x}, {{"axes", {axes}}});
}

Slot reshaped(const Rewriting& at, Slot x, const Shape& shape) {
  return at.append(words().reshape, {x}, {{"shape", {shape}}});
}

/// One term each: itself, but that a sum turns −0 into 0.
std::optional<Slot> of_single_terms(const Rewriting& at) {
  const Shape shape = at.type(at[0]).shape;
  for (std::int64_t axis : at.attributes.shape("axes")) {
    if (shape[place(axis)] != 1) return std::nullopt;
  }
  if (is_sum(at) && at.is_float() && at.facts(at[0]).negative_zero) return std::nullopt;
  return reshaped(at, at[0], at.result.shape);
}

/// Terms that are copies of each other: extremes are the term, sums a multiple of it.
std::optional<Slot> of_copies(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto inner = at.match(at[0], w.broadcast);
  if (!inner || &at.primitive == &w.reduce_prod) return std::nullopt;
  if (is_sum(at) && at.is_float() && !at.reassociates()) return std::nullopt;
  const Shape whole = at.type(at[0]).shape;
  const Shape& from = inner->attributes.shape("axes");
  Shape dropped;
  Shape rest;
  std::int64_t copies = 1;
  for (std::int64_t axis : at.attributes.shape("axes")) {
    if (contains(from, axis)) {
      rest.push_back(axis);
    } else {
      dropped.push_back(axis);
      copies *= whole[place(axis)];
    }
  }
  if (dropped.empty() || copies == 0) return std::nullopt;
  const Shape kept = axes_without(whole.size(), dropped);
  const auto moved = [&](const Shape& axes) {
    Shape places;
    for (std::int64_t axis : axes)
      places.push_back(std::find(kept.begin(), kept.end(), axis) - kept.begin());
    return places;
  };
  Slot x = at.append(w.broadcast, {(*inner)[0]},
                     {{"shape", {at_places(whole, kept)}}, {"axes", {moved(from)}}});
  if (is_sum(at)) x = at.append(w.mul, {x, at.literal({copies}, at.type(x))});
  return rest.empty() ? x : reduced(at, x, moved(rest));
}

std::optional<Slot> of_reduction(const Rewriting& at) {
  const auto inner = at.match(at[0], at.primitive);
  if (!inner || (has_order(at) && !at.reassociates())) return std::nullopt;
  const Shape& first = inner->attributes.shape("axes");
  const Shape kept = axes_without(at.type((*inner)[0]).shape.size(), first);
  Shape all = first;
  for (std::int64_t axis : at.attributes.shape("axes")) all.push_back(kept[place(axis)]);
  std::sort(all.begin(), all.end());
  return reduced(at, (*inner)[0], all);
}

std::optional<Slot> of_transpose(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto inner = at.match(at[0], w.transpose);
  if (!inner || !at.is_used_once(at[0])) return std::nullopt;
  const Shape& permutation = inner->attributes.shape("permutation");
  const Shape& axes = at.attributes.shape("axes");
  Shape terms = at_places(permutation, axes);
  if (!ascends(terms)) {
    if (has_order(at)) return std::nullopt;
    std::sort(terms.begin(), terms.end());
  }
  const Slot x = reduced(at, (*inner)[0], terms);
  // The axes that stay, in the order in which the transpose left them.
  const Shape kept = axes_without(permutation.size(), terms);
  Shape order;
  for (std::int64_t axis : at_places(permutation, axes_without(permutation.size(), axes)))
    order.push_back(std::find(kept.begin(), kept.end(), axis) - kept.begin());
  return at.append(w.transpose, {x}, {{"permutation", {order}}});
}

/// For each axis of `from` whether its elements are reduced, where `to`, the same elements, has
/// these axes reduced; nothing where an axis is reduced in part.
std::optional<Shape> axes_before_reshape(const Shape& from, const Shape& to, const Shape& axes) {
  Shape reduced_axes;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() || j < to.size()) {
    // The next axes on both sides that hold the same elements; ones belong to what they follow.
    std::int64_t a = 1;
    std::int64_t b = 1;
    const std::size_t begin = i;
    bool any_reduced = false;
    bool any_kept = false;
    const auto take_left = [&] { a *= from[i++]; };
    const auto take_right = [&] {
      if (to[j] != 1)
        (contains(axes, static_cast<std::int64_t>(j)) ? any_reduced : any_kept) = true;
      b *= to[j++];
    };
    if (i < from.size()) take_left();
    if (j < to.size()) take_right();
    while (a != b) {
      if (a < b) {
        if (i == from.size()) return std::nullopt;
        take_left();
      } else {
        if (j == to.size()) return std::nullopt;
        take_right();
      }
    }
    if (any_reduced && any_kept) return std::nullopt;
    for (std::size_t k = begin; any_reduced && k < i; ++k)
      reduced_axes.push_back(static_cast<std::int64_t>(k));
  }
  return reduced_axes;
}

std::optional<Slot> of_reshape(const Rewriting& at) {
  const auto inner = at.match(at[0], words().reshape);
  if (!inner || !at.is_used_once(at[0])) return std::nullopt;
  const Shape from = at.type((*inner)[0]).shape;
  const Shape to = at.type(at[0]).shape;
  if (contains(from, 0)) return std::nullopt;
  const auto axes = axes_before_reshape(from, to, at.attributes.shape("axes"));
  if (!axes || axes->empty()) return std::nullopt;
  return reshaped(at, reduced(at, (*inner)[0], *axes), at.result.shape);
}

Rules make_rules() {
  const Vocabulary& w = words();
  const std::initializer_list<const Primitive*> all = {&w.reduce_sum, &w.reduce_prod, &w.reduce_max,
                                                       &w.reduce_min, &w.reduce_and,  &w.reduce_or};
  Rules rules;
  add_rule(rules, all,
           {"reduce x = reshape x",
            "where each result has one term; sums of floats only where that may not be −0, since "
            "they start from +0"},
           of_single_terms);
  add_rule(rules, {&w.reduce_max, &w.reduce_min, &w.reduce_and, &w.reduce_or, &w.reduce_sum},
           {"max(broadcast x) = x, sum(broadcast x) = n·x",
            "along the axes that are repeated; sums of floats only with `reassociate`"},
           of_copies);
  add_rule(rules, all,
           {"reduce(reduce x) = reduce x",
            "integers and bool; of floats the order of terms changes, with `reassociate` only"},
           of_reduction);
  add_rule(rules, all, {"reduce(transpose x) = transpose(reduce x)", "where terms stay in order"},
           of_transpose);
  add_rule(rules, all,
           {"reduce(reshape x) = reshape(reduce x)",
            "where whole axes of x are reduced; terms stay in order"},
           of_reshape);
  return rules;
}

}  // namespace

Pass reductions() {
  static const Rules rules = make_rules();
  return pass_of_rules("reductions", "reductions of what is repeated, reordered or reduced already",
                       rules);
}

}  // namespace hom::optimiser
