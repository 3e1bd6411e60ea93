// backends/optimise/indices.cc -- reads and writes at positions that are known, or counted
//
// What real programs leave: a batched dynamic_slice looks its positions up in an iota; labels of a
// cross-entropy become rows of a comparison with an iota; positions are often literals once
// constants are folded.
#include <algorithm>
#include <limits>

#include <hom/backends/optimise/axes_of_views.h>
#include <hom/backends/optimise/known_values.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>
#include <hom/core/axes.h>

namespace hom::optimiser {
namespace {

/// The largest number of an integer dtype, as far as i64 goes.
std::int64_t largest(Dtype dtype) {
  std::int64_t value = 0;
  visit(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::same_as<T, bool>) {
      value = std::in_range<std::int64_t>(std::numeric_limits<T>::max())
                  ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                  : INT64_MAX;
    }
  });
  return value;
}

bool clips(const Attributes& attributes) { return attributes.string("mode") == "clip"; }

/// min(max(index, 0), last), where the dtype can hold what that compares with.
Slot clamped(const Rewriting& at, Slot index, std::int64_t last) {
  const Vocabulary& w = words();
  const TensorType type = at.type(index);
  Slot inside = index;
  if (type.dtype.is_signed_integer())
    inside = at.append(w.max, {inside, at.literal({std::int64_t{0}}, type)});
  if (last < largest(type.dtype)) inside = at.append(w.min, {inside, at.literal({last}, type)});
  return inside;
}

/// gather(iota, i), where positions outside are moved inside.
std::optional<Slot> gather_of_iota(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto iota = at.match(at[0], w.iota);
  if (!iota || !clips(at.attributes)) return std::nullopt;
  const TensorType positions = at.type(at[0]);
  if (positions.rank() != 1 || positions.shape[0] == 0 || at.attributes.shape("axes") != Shape{0})
    return std::nullopt;
  const Slot index = at.append(w.reshape, {at[1]}, {{"shape", {at.result.shape}}});
  return at.append(w.convert, {clamped(at, index, positions.shape[0] - 1)},
                   {{"dtype", {at.result.dtype}}});
}

/// gather(broadcast x, i) along axes that are repeated: all elements are the same.
std::optional<Slot> gather_of_broadcast(const Rewriting& at) {
  const Vocabulary& w = words();
  const auto inner = at.match(at[0], w.broadcast);
  if (!inner || !clips(at.attributes)) return std::nullopt;
  const Shape whole = at.type(at[0]).shape;
  const Shape& indexed = at.attributes.shape("axes");
  const Shape& from = inner->attributes.shape("axes");
  for (std::int64_t axis : indexed) {
    // What is empty cannot be clipped, and gives zeros.
    if (contains(from, axis) || whole[place(axis)] == 0) return std::nullopt;
  }
  const Shape kept = axes_without(whole.size(), indexed);
  const std::int64_t in_front = at.type(at[1]).rank() - 1;
  Shape axes;
  for (std::int64_t axis : from)
    axes.push_back(in_front + (std::find(kept.begin(), kept.end(), axis) - kept.begin()));
  return at.append(w.broadcast, {(*inner)[0]}, {{"shape", {at.result.shape}}, {"axes", {axes}}});
}

/// The one position of indices [1…, k], or of indices that are all equal, where it is known and
/// inside, perhaps by clipping.
std::optional<Shape> known_position(const Rewriting& at, Slot indices, const Shape& whole,
                                    const Shape& axes, bool may_repeat) {
  const auto values = known_integers(at, indices);
  if (!values || values->empty()) return std::nullopt;
  const std::size_t k = axes.size();
  if (k == 0 || values->size() % k != 0 || (!may_repeat && values->size() != k))
    return std::nullopt;
  for (std::size_t i = k; i < values->size(); ++i) {
    if ((*values)[i] != (*values)[i % k]) return std::nullopt;
  }
  Shape position;
  for (std::size_t i = 0; i < k; ++i) {
    const std::int64_t extent = whole[place(axes[i])];
    std::int64_t index = (*values)[i];
    if (clips(at.attributes) && extent > 0) index = std::clamp<std::int64_t>(index, 0, extent - 1);
    if (index < 0 || index >= extent) return std::nullopt;
    position.push_back(index);
  }
  return position;
}

/// gather at one known position: a slice, repeated for each index.
std::optional<Slot> gather_of_known(const Rewriting& at) {
  const Vocabulary& w = words();
  const Shape whole = at.type(at[0]).shape;
  const Shape& axes = at.attributes.shape("axes");
  const auto position = known_position(at, at[1], whole, axes, true);
  if (!position) return std::nullopt;
  Shape start(whole.size(), 0);
  Shape size = whole;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    start[place(axes[i])] = (*position)[i];
    size[place(axes[i])] = 1;
  }
  const Slot part = at.append(
      w.slice, {at[0]}, {{"start", {start}}, {"size", {size}}, {"step", {Shape(size.size(), 1)}}});
  const Shape kept = at_places(whole, axes_without(whole.size(), axes));
  const Slot row = at.append(w.reshape, {part}, {{"shape", {kept}}});
  const std::int64_t in_front = at.type(at[1]).rank() - 1;
  return at.append(w.broadcast, {row},
                   {{"shape", {at.result.shape}}, {"axes", {iota_shape(kept.size(), in_front)}}});
}

/// scatter at one known position.
std::optional<Slot> scatter_of_known(const Rewriting& at) {
  const Vocabulary& w = words();
  const std::string& combine = at.attributes.string("combine");
  const Shape& axes = at.attributes.shape("axes");
  const auto position = known_position(at, at[1], at.result.shape, axes, false);
  if (!position || (combine != "set" && combine != "add")) return std::nullopt;
  Shape start(at.result.shape.size(), 0);
  Shape size = at.result.shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    start[place(axes[i])] = (*position)[i];
    size[place(axes[i])] = 1;
  }
  const Slot update = at.append(w.reshape, {at[2]}, {{"shape", {size}}});
  return at.append(w.update_slice, {at[0], update},
                   {{"start", {start}}, {"step", {Shape(size.size(), 1)}}, {"combine", {combine}}});
}

/// Where a window starts, if that is known and inside, perhaps by clipping.
std::optional<Shape> known_start(const Rewriting& at, Slot slot, const Shape& whole,
                                 const Shape& size) {
  const auto values = known_integers(at, slot);
  if (!values) return std::nullopt;
  Shape start;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const std::int64_t last = whole[i] - size[i];
    std::int64_t first = (*values)[i];
    if (clips(at.attributes)) first = std::clamp<std::int64_t>(first, 0, last);
    if (first < 0 || first > last) return std::nullopt;
    // An empty window starts anywhere; a slice wants it at 0.
    start.push_back(size[i] == 0 ? 0 : first);
  }
  return start;
}

std::optional<Slot> window_at_known(const Rewriting& at) {
  const Shape size = at.attributes.shape("size");
  const auto start = known_start(at, at[1], at.type(at[0]).shape, size);
  if (!start) return std::nullopt;
  return at.append(words().slice, {at[0]},
                   {{"start", {*start}}, {"size", {size}}, {"step", {Shape(size.size(), 1)}}});
}

std::optional<Slot> update_at_known(const Rewriting& at) {
  const Shape size = at.type(at[1]).shape;
  const auto start = known_start(at, at[2], at.result.shape, size);
  if (!start) return std::nullopt;
  return at.append(words().update_slice, {at[0], at[1]},
                   {{"start", {*start}},
                    {"step", {Shape(size.size(), 1)}},
                    {"combine", {at.attributes.string("combine")}}});
}

/// A comparison of positions along an axis with an index that does not vary along it: a one-hot
/// mask.
struct OneHot {
  /// What is broadcast, and along which axes of the mask it lies.
  Slot index;
  Shape axes;
  std::int64_t axis;
};

/// The positions along one axis of the shape, where the slot counts them: an iota, or a broadcast
/// of one.
std::optional<std::int64_t> counted_axis(const Rewriting& at, Slot slot) {
  const Vocabulary& w = words();
  if (const auto iota = at.match(slot, w.iota)) return iota->attributes.integer("axis");
  const auto spread = at.match(slot, w.broadcast);
  const auto iota = spread ? at.match((*spread)[0], w.iota) : std::nullopt;
  if (!iota) return std::nullopt;
  const auto from = place(iota->attributes.integer("axis"));
  const std::int64_t axis = spread->attributes.shape("axes")[from];
  const bool repeats = at.type((*spread)[0]).shape[from] != at.type(slot).shape[place(axis)];
  return repeats ? std::nullopt : std::optional(axis);
}

std::optional<OneHot> one_hot_of(const Rewriting& at, Slot mask) {
  const Vocabulary& w = words();
  const auto test = at.match(mask, w.eq);
  if (!test || !at.type((*test)[0]).dtype.is_integer()) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto axis = counted_axis(at, (*test)[i]);
    const auto spread = at.match((*test)[1 - i], w.broadcast);
    if (!axis || !spread || contains(spread->attributes.shape("axes"), *axis)) continue;
    const TensorType type = at.type(mask);
    // A dtype too small for the extent would count some positions twice.
    if (type.shape[place(*axis)] - 1 > largest(at.type((*test)[0]).dtype)) continue;
    return OneHot{(*spread)[0], spread->attributes.shape("axes"), *axis};
  }
  return std::nullopt;
}

/// Σ along an axis of what a one-hot mask leaves: the element at the index, 0 where it is outside.
std::optional<Slot> read_at_index(const Rewriting& at, const OneHot& hot, Slot x) {
  const Vocabulary& w = words();
  const Shape whole = at.type(x).shape;
  if (at.attributes.shape("axes") != Shape{hot.axis}) return std::nullopt;
  // gather(x) at (position on every other axis, index): only where x has no other axes, or one.
  const Shape others = axes_without(whole.size(), {hot.axis});
  Shape axes;
  for (std::int64_t axis : hot.axes)
    axes.push_back(std::find(others.begin(), others.end(), axis) - others.begin());
  Shape column = at.result.shape;
  column.push_back(1);
  const Dtype dtype = at.type(hot.index).dtype;
  const bool holds = std::all_of(at.result.shape.begin(), at.result.shape.end(),
                                 [&](std::int64_t extent) { return extent <= largest(dtype); });
  if (!holds) return std::nullopt;
  std::vector<Slot> coordinates;
  for (std::size_t i = 0; i < others.size(); ++i) {
    coordinates.push_back(at.append(
        w.iota, std::span<const Slot>(),
        {{"dtype", {dtype}}, {"shape", {column}}, {"axis", {static_cast<std::int64_t>(i)}}}));
  }
  coordinates.push_back(
      at.append(w.broadcast, {hot.index}, {{"shape", {column}}, {"axes", {axes}}}));
  const Slot indices = coordinates.size() == 1
                           ? coordinates[0]
                           : at.append(w.concat, {coordinates.data(), coordinates.size()},
                                       {{"axis", {static_cast<std::int64_t>(others.size())}}});
  Shape indexed = others;
  indexed.push_back(hot.axis);
  const Slot read =
      at.append(w.gather, {x, indices}, {{"axes", {indexed}}, {"mode", {std::string("drop")}}});
  // A sum starts from +0.
  return at.is_float() ? at.append(w.add, {read, at.literal(0)}) : read;
}

std::optional<Slot> sum_of_masked(const Rewriting& at) {
  const auto masked = at.match(at[0], words().select);
  if (!masked || !at.is_used_once(at[0]) || !at.is_literal((*masked)[2], 0)) return std::nullopt;
  const auto hot = one_hot_of(at, (*masked)[0]);
  return hot ? read_at_index(at, *hot, (*masked)[1]) : std::nullopt;
}

std::optional<Slot> sum_of_weighted(const Rewriting& at) {
  const Vocabulary& w = words();
  for (const Primitive* p : {&w.mul, &w.scale}) {
    const auto product = at.match(at[0], *p);
    if (!product || !at.is_used_once(at[0])) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto weight = at.match((*product)[i], w.convert);
      const auto hot = weight ? one_hot_of(at, (*weight)[0]) : std::nullopt;
      if (hot) return read_at_index(at, *hot, (*product)[1 - i]);
    }
  }
  return std::nullopt;
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.gather},
           {"gather(iota, i) = convert(min(max(i, 0), last))",
            "where positions outside are clipped: what a batched dynamic_slice looks up"},
           gather_of_iota);
  add_rule(rules, {&w.gather},
           {"gather(broadcast x, i) = broadcast x",
            "along axes that are repeated, where positions outside are clipped"},
           gather_of_broadcast);
  add_rule(
      rules, {&w.gather},
      {"gather(x, c) = broadcast(slice x)", "one position, known and inside, perhaps by clipping"},
      gather_of_known);
  add_rule(rules, {&w.scatter},
           {"scatter(x, c, u) = update_slice(x, u)", "one position, known and inside; set and add"},
           scatter_of_known);
  add_rule(rules, {&w.dynamic_slice},
           {"dynamic_slice(x, c) = slice x", "the start known and inside, perhaps by clipping"},
           window_at_known);
  add_rule(rules, {&w.dynamic_update_slice},
           {"dynamic_update_slice(x, u, c) = update_slice(x, u)",
            "the start known and inside, perhaps by clipping"},
           update_at_known);
  add_rule(rules, {&w.reduce_sum},
           {"Σⱼ select(j = i, xⱼ, 0) = gather(x, i) + 0",
            "all other terms are +0, and an index outside leaves none"},
           sum_of_masked);
  add_rule(rules, {&w.reduce_sum},
           {"Σⱼ convert(j = i)·xⱼ = gather(x, i) + 0",
            "one-hot labels; 0·x is NaN where another x is infinite or NaN", true},
           sum_of_weighted);
  return rules;
}

}  // namespace

Pass indices() {
  static const Rules rules = make_rules();
  return pass_of_rules("indices", "reads and writes at positions that are known, or counted",
                       rules);
}

}  // namespace hom::optimiser
