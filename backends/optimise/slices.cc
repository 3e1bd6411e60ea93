// backends/optimise/slices.cc -- reads of parts: slices of slices, of what is joined, padded,
// updated
//
// Slices move inwards, to where the elements come from.
#include <algorithm>

#include <hom/backends/optimise/axes_of_views.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>
#include <hom/core/axes.h>

namespace hom::optimiser {
namespace {

/// Where a slice, or an update, is.
struct Region {
  Shape start, size, step;

  /// The smallest and the largest place along an axis; there are some.
  std::int64_t low(std::size_t i) const {
    return std::min(start[i], start[i] + (size[i] - 1) * step_of(i));
  }
  std::int64_t high(std::size_t i) const {
    return std::max(start[i], start[i] + (size[i] - 1) * step_of(i));
  }
  /// A step that is never taken may be anything.
  std::int64_t step_of(std::size_t i) const { return size[i] > 1 ? step[i] : 1; }
  bool is_empty() const { return contains(size, 0); }
};

Region region_of(const Rewriting& at) {
  return {at.attributes.shape("start"), at.attributes.shape("size"), at.attributes.shape("step")};
}

Slot slice(const Rewriting& at, Slot x, const Region& region) {
  return at.append(words().slice, {x},
                   {{"start", {region.start}}, {"size", {region.size}}, {"step", {region.step}}});
}

std::optional<Slot> slice_twice(const Rewriting& at) {
  const auto inner = at.match(at[0], at.primitive);
  Region outer = region_of(at);
  if (!inner || outer.is_empty()) return std::nullopt;
  const Shape& start = inner->attributes.shape("start");
  const Shape& size = inner->attributes.shape("size");
  const Shape& step = inner->attributes.shape("step");
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::int64_t own = size[i] > 1 ? step[i] : 1;
    outer.step[i] = outer.step_of(i) * own;
    outer.start[i] = start[i] + outer.start[i] * own;
  }
  return slice(at, (*inner)[0], outer);
}

std::optional<Slot> slice_of_broadcast(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto inner = at.match(at[0], w.broadcast);
  if (!inner) return std::nullopt;
  const Shape source = at.type((*inner)[0]).shape;
  const Shape whole = at.type(at[0]).shape;
  const Shape& axes = inner->attributes.shape("axes");
  const Region outer = region_of(at);
  Region part{Shape(source.size(), 0), source, Shape(source.size(), 1)};
  bool is_trivial = true;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t axis = place(axes[i]);
    if (source[i] == 1) continue;
    part.start[i] = outer.start[axis];
    part.size[i] = outer.size[axis];
    part.step[i] = outer.step_of(axis);
    is_trivial = is_trivial && part.start[i] == 0 && part.size[i] == source[i] && part.step[i] == 1;
  }
  if (outer.is_empty() || (!is_trivial && !at.is_used_once(at[0]))) return std::nullopt;
  const Slot x = is_trivial ? (*inner)[0] : slice(at, (*inner)[0], part);
  return at.append(w.broadcast, {x}, {{"shape", {outer.size}}, {"axes", {axes}}});
}

std::optional<Slot> slice_of_transpose(const Rewriting& at) {
  const auto inner = at.match(at[0], words().transpose);
  if (!inner || !at.is_used_once(at[0])) return std::nullopt;
  const Shape permutation = inner->attributes.shape("permutation");
  const Shape back = inverse_of(permutation);
  const Region outer = region_of(at);
  const Slot x = slice(
      at, (*inner)[0],
      {at_places(outer.start, back), at_places(outer.size, back), at_places(outer.step, back)});
  return at.append(words().transpose, {x}, {{"permutation", {permutation}}});
}

/// A reshape that adds or removes ones.
std::optional<Slot> slice_of_reshape(const Rewriting& at) {
  const auto inner = at.match(at[0], words().reshape);
  const Region outer = region_of(at);
  if (!inner || !at.is_used_once(at[0]) || outer.is_empty()) return std::nullopt;
  const Shape from = at.type((*inner)[0]).shape;
  const Shape to = at.type(at[0]).shape;
  if (!differ_in_ones(from, to)) return std::nullopt;
  const Shape moved = corresponding_axes(from, to);
  Region part{Shape(from.size(), 0), from, Shape(from.size(), 1)};
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (moved[i] < 0) continue;
    part.start[i] = outer.start[place(moved[i])];
    part.size[i] = outer.size[place(moved[i])];
    part.step[i] = outer.step_of(place(moved[i]));
  }
  return at.append(words().reshape, {slice(at, (*inner)[0], part)}, {{"shape", {at.result.shape}}});
}

/// Of a part of `concat` alone.
std::optional<Slot> slice_of_concat(const Rewriting& at) {
  const auto joined = at.match(at[0], words().concat);
  Region region = region_of(at);
  if (!joined || region.is_empty()) return std::nullopt;
  const std::size_t axis = place(joined->attributes.integer("axis"));
  std::int64_t before = 0;
  for (Slot part : joined->operands) {
    const std::int64_t extent = at.type(part).shape[axis];
    if (before <= region.low(axis) && region.high(axis) < before + extent) {
      region.start[axis] -= before;
      return slice(at, part, region);
    }
    before += extent;
  }
  return std::nullopt;
}

/// Of what `pad` holds, or of its padding alone.
std::optional<Slot> slice_of_pad(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto padded = at.match(at[0], w.pad);
  Region region = region_of(at);
  if (!padded || region.is_empty()) return std::nullopt;
  const Shape extents = at.type((*padded)[0]).shape;
  const Shape& low = padded->attributes.shape("low");
  const Shape& interior = padded->attributes.shape("interior");
  bool inside = true;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t width = extents[i] == 0 ? 0 : extents[i] + (extents[i] - 1) * interior[i];
    if (region.high(i) < low[i] || region.low(i) >= low[i] + width)
      return at.append(w.broadcast, {(*padded)[1]},
                       {{"shape", {at.result.shape}}, {"axes", {Shape{}}}});
    inside = inside && low[i] <= region.low(i) && region.high(i) < low[i] + width &&
             (interior[i] == 0 || extents[i] == 1);
  }
  if (!inside) return std::nullopt;
  for (std::size_t i = 0; i < extents.size(); ++i) region.start[i] -= low[i];
  return slice(at, (*padded)[0], region);
}

/// Of what an update wrote, or of what it left alone.
std::optional<Slot> slice_of_update(const Rewriting& at) {
  const auto update = at.match(at[0], words().update_slice);
  Region read = region_of(at);
  if (!update || read.is_empty()) return std::nullopt;
  const Region written{update->attributes.shape("start"), at.type((*update)[1]).shape,
                       update->attributes.shape("step")};
  if (written.is_empty()) return slice(at, (*update)[0], read);
  bool inside = update->attributes.string("combine") == "set";
  for (std::size_t i = 0; i < read.size.size(); ++i) {
    if (read.high(i) < written.low(i) || written.high(i) < read.low(i))
      return slice(at, (*update)[0], read);
    inside = inside && written.step_of(i) == 1 && written.low(i) <= read.low(i) &&
             read.high(i) <= written.high(i);
  }
  if (!inside) return std::nullopt;
  for (std::size_t i = 0; i < read.size.size(); ++i) read.start[i] -= written.start[i];
  return slice(at, (*update)[1], read);
}

/// Updates of nothing, and of everything.
std::optional<Slot> update_of_all(const Rewriting& at) {
  const Region written{at.attributes.shape("start"), at.type(at[1]).shape,
                       at.attributes.shape("step")};
  if (written.is_empty()) return at[0];
  if (at.attributes.string("combine") != "set" || at.type(at[1]) != at.result) return std::nullopt;
  for (std::size_t i = 0; i < written.size.size(); ++i) {
    if (written.step_of(i) != 1) return std::nullopt;
  }
  return at[1];
}

std::optional<Slot> pad_by_nothing(const Rewriting& at) {
  if (at.type(at[0]) == at.result) return at[0];
  const auto x = at.literal_of(at[0]);
  const auto value = at.literal_of(at[1]);
  return x && value && *x == *value ? std::optional(at.literal(*x, at.result)) : std::nullopt;
}

/// Parts without elements go, a `concat` in a `concat` along the same axis becomes part of it, and
/// neighbouring slices of one tensor become one.
std::optional<Slot> concat_of_fewer(const Rewriting& at) {
  const Vocabulary& w = words();
  const std::int64_t axis = at.attributes.integer("axis");
  const std::size_t along = place(axis);
  std::vector<Slot> parts;
  for (Slot slot : at.operands) {
    const auto inner = at.match(slot, at.primitive);
    if (inner && inner->attributes.integer("axis") == axis && at.is_used_once(slot)) {
      parts.insert(parts.end(), inner->operands.begin(), inner->operands.end());
    } else if (at.type(slot).shape[along] != 0) {
      parts.push_back(slot);
    }
  }
  if (parts.empty()) return at[0];
  std::vector<Slot> merged;
  for (Slot slot : parts) {
    if (!merged.empty()) {
      const auto a = at.match(merged.back(), w.slice);
      const auto b = at.match(slot, w.slice);
      if (a && b && (*a)[0] == (*b)[0]) {
        Region left{a->attributes.shape("start"), a->attributes.shape("size"),
                    a->attributes.shape("step")};
        Region right{b->attributes.shape("start"), b->attributes.shape("size"),
                     b->attributes.shape("step")};
        // As one slice that starts where the left one does, they have to agree elsewhere.
        const bool follows = left.step_of(along) == 1 && right.step_of(along) == 1 &&
                             right.start[along] == left.start[along] + left.size[along];
        const std::int64_t both = left.size[along] + right.size[along];
        const std::int64_t start = left.start[along];
        for (Region* r : {&left, &right}) {
          r->size[along] = both;
          r->start[along] = start;
          r->step[along] = 1;
        }
        if (follows && left.start == right.start && left.size == right.size &&
            left.step == right.step) {
          merged.back() = slice(at, (*a)[0], left);
          continue;
        }
      }
    }
    merged.push_back(slot);
  }
  if (merged.size() == 1) return merged[0];
  const auto first = at.literal_of(merged[0]);
  const bool all_equal = first && std::all_of(merged.begin(), merged.end(), [&](Slot slot) {
                           const auto value = at.literal_of(slot);
                           return value && *value == *first;
                         });
  if (all_equal) return at.literal(*first, at.result);
  if (merged.size() == at.operands.size()) return std::nullopt;
  return at.append(at.primitive, {merged.data(), merged.size()}, at.attributes);
}

Rules make_rules() {
  const Vocabulary& w = words();
  const char* moves = "elements move only";
  Rules rules;
  add_rule(rules, {&w.slice}, {"slice(slice x) = slice x", moves}, slice_twice);
  add_rule(rules, {&w.slice}, {"slice(concat x…) = slice xᵢ", "where it lies in one part"},
           slice_of_concat);
  add_rule(rules, {&w.slice},
           {"slice(pad x) = slice x, or the padding", "where it lies in one of them"},
           slice_of_pad);
  add_rule(rules, {&w.slice},
           {"slice(update_slice(x, u)) = slice u, or slice x",
            "where it lies in what was set, or apart from what was written"},
           slice_of_update);
  add_rule(rules, {&w.slice}, {"slice(broadcast x) = broadcast(slice x)", moves},
           slice_of_broadcast);
  add_rule(rules, {&w.slice}, {"slice(transpose x) = transpose(slice x)", moves},
           slice_of_transpose);
  add_rule(rules, {&w.slice},
           {"slice(reshape x) = reshape(slice x)", "where the reshape adds or removes ones"},
           slice_of_reshape);
  add_rule(rules, {&w.update_slice},
           {"update_slice(x, u) = u, or x", "where u sets everything, or has no elements"},
           update_of_all);
  add_rule(rules, {&w.pad}, {"pad x = x", "where nothing is added, or the same literal"},
           pad_by_nothing);
  add_rule(rules, {&w.concat},
           {"concat(…) of fewer parts",
            "empty parts, a concat along the same axis, neighbouring slices, equal literals"},
           concat_of_fewer);
  return rules;
}

}  // namespace

Pass slices() {
  static const Rules rules = make_rules();
  return pass_of_rules("slices", "reads of parts go to where the elements come from", rules);
}

}  // namespace hom::optimiser
