// backends/optimise/views.cc -- chains of broadcasts, reshapes and transposes
//
// Repeated elements stay repeated: broadcasts move outwards, so that what is done to every copy is
// done once.
#include <algorithm>

#include <hom/backends/optimise/axes_of_views.h>
#include <hom/backends/optimise/elementwise.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/rewriting.h>
#include <hom/core/axes.h>

namespace hom::optimiser {
namespace {

Slot broadcast(const Rewriting& at, Slot x, const Shape& shape, const Shape& axes) {
  return at.append(words().broadcast, {x}, {{"shape", {shape}}, {"axes", {axes}}});
}

std::optional<Slot> broadcast_twice(const Rewriting& at) {
  const auto inner = at.match(at[0], at.primitive);
  if (!inner) return std::nullopt;
  return broadcast(at, (*inner)[0], at.result.shape,
                   at_places(at.attributes.shape("axes"), inner->attributes.shape("axes")));
}

/// A reshape in between that only adds or removes axes of extent 1.
std::optional<Slot> broadcast_of_reshape(const Rewriting& at) {
  const auto inner = at.match(at[0], words().reshape);
  if (!inner) return std::nullopt;
  const Shape from = at.type((*inner)[0]).shape;
  const Shape to = at.type(at[0]).shape;
  if (!differ_in_ones(from, to)) return std::nullopt;
  const Shape& axes = at.attributes.shape("axes");
  Shape wanted = corresponding_axes(from, to);
  for (std::int64_t& axis : wanted) {
    if (axis >= 0) axis = axes[place(axis)];
  }
  const auto fitted = fitted_axes(wanted, at.result.rank());
  if (!fitted) return std::nullopt;
  return broadcast(at, (*inner)[0], at.result.shape, *fitted);
}

std::optional<Slot> reshape_of_broadcast(const Rewriting& at) {
  const auto inner = at.match(at[0], words().broadcast);
  if (!inner) return std::nullopt;
  const Shape source = at.type((*inner)[0]).shape;
  const Shape from = at.type(at[0]).shape;
  const Shape& axes = inner->attributes.shape("axes");
  Shape wanted(source.size(), -1);
  const bool is_one_element =
      std::all_of(source.begin(), source.end(), [](std::int64_t e) { return e == 1; });
  if (!is_one_element) {
    if (!differ_in_ones(from, at.result.shape)) return std::nullopt;
    const Shape moved = corresponding_axes(from, at.result.shape);
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (source[i] != 1) wanted[i] = moved[place(axes[i])];
    }
  }
  const auto fitted = fitted_axes(wanted, at.result.rank());
  if (!fitted) return std::nullopt;
  return broadcast(at, (*inner)[0], at.result.shape, *fitted);
}

std::optional<Slot> transpose_of_broadcast(const Rewriting& at) {
  const auto inner = at.match(at[0], words().broadcast);
  if (!inner) return std::nullopt;
  const Shape moved =
      at_places(inverse_of(at.attributes.shape("permutation")), inner->attributes.shape("axes"));
  if (ascends(moved)) return broadcast(at, (*inner)[0], at.result.shape, moved);
  if (!at.is_used_once(at[0])) return std::nullopt;
  Shape order = iota_shape(moved.size());
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return moved[place(a)] < moved[place(b)]; });
  const Slot x = at.append(words().transpose, {(*inner)[0]}, {{"permutation", {order}}});
  return broadcast(at, x, at.result.shape, at_places(moved, order));
}

/// So many functions lie between a transpose and the copies that it meets.
constexpr int most_functions = 4;

/// Whether a slot is made of copies, such as an outer product: of broadcasts and literals, by
/// functions whose results nothing else needs.
bool is_made_of_copies(const Rewriting& at, Slot slot, int functions) {
  if (at.literal_of(slot) || at.is(slot, words().broadcast)) return true;
  const std::optional<Step> step = at.rewriter.builder().definition(slot);
  if (!step || functions == 0 || !is_elementwise(step->primitive) || !at.is_used_once(slot))
    return false;
  return std::all_of(step->operands.begin(), step->operands.end(),
                     [&](Slot operand) { return is_made_of_copies(at, operand, functions - 1); });
}

/// transpose f(broadcast x, broadcast y) = f(transpose broadcast x, transpose broadcast y), whose
/// transposes vanish in the broadcasts: an outer product is computed in the layout of what takes
/// it.
std::optional<Slot> transpose_of_function(const Rewriting& at) {
  const std::optional<Step> inner = at.rewriter.builder().definition(at[0]);
  if (!inner || !is_elementwise(inner->primitive)) return std::nullopt;
  if (!is_made_of_copies(at, at[0], most_functions)) return std::nullopt;
  // Steps move when others are appended.
  const Primitive& function = inner->primitive;
  const Attributes attributes = inner->attributes;
  const SmallVector<Slot, 3> from{inner->operands.begin(), inner->operands.end()};
  SmallVector<Slot, 3> operands;
  for (Slot slot : from) {
    if (const auto value = at.literal_of(slot)) {
      operands.push_back(at.literal(*value, at.type(slot).dtype[at.result.shape]));
    } else {
      operands.push_back(at.append(words().transpose, {slot}, at.attributes));
    }
  }
  return at.append(function, {operands.data(), operands.size()}, attributes);
}

/// A transpose that moves axes of extent 1 only is a reshape.
std::optional<Slot> transpose_of_ones(const Rewriting& at) {
  const Shape from = at.type(at[0]).shape;
  Shape kept;
  for (std::int64_t axis : at.attributes.shape("permutation")) {
    if (from[place(axis)] != 1) kept.push_back(axis);
  }
  if (!ascends(kept)) return std::nullopt;
  return at.append(words().reshape, {at[0]}, {{"shape", {at.result.shape}}});
}

/// f(broadcast x, broadcast y) = broadcast f(x, y), where x and y are repeated alike; literals fit
/// anything.
std::optional<Slot> function_of_broadcasts(const Rewriting& at) {
  std::optional<Definition> first;
  TensorType source;
  for (Slot slot : at.operands) {
    if (at.literal_of(slot)) continue;
    auto inner = at.match(slot, words().broadcast);
    if (!inner) return std::nullopt;
    const TensorType type = at.type((*inner)[0]);
    if (!first) {
      first = std::move(inner);
      source = type;
    } else if (type.shape != source.shape ||
               inner->attributes.shape("axes") != first->attributes.shape("axes")) {
      return std::nullopt;
    }
  }
  // Where nothing is left, a step that raises would.
  if (!first || source.size() >= at.result.size()) return std::nullopt;
  SmallVector<Slot, 3> operands;
  for (Slot slot : at.operands) {
    if (const auto value = at.literal_of(slot)) {
      operands.push_back(at.literal(*value, at.type(slot).dtype[source.shape]));
    } else {
      operands.push_back((*at.match(slot, words().broadcast))[0]);
    }
  }
  const Slot small = at.append(at.primitive, {operands.data(), operands.size()}, at.attributes);
  return broadcast(at, small, at.result.shape, first->attributes.shape("axes"));
}

/// f(reshape x, reshape y, c) = reshape f(x, y, c), where the reshapes only add axes of extent 1 to
/// the same shape: so that what is done to a sum whose axes are kept meets the broadcast behind it.
std::optional<Slot> function_of_reshapes(const Rewriting& at) {
  Shape source;
  bool any = false;
  for (Slot slot : at.operands) {
    if (at.literal_of(slot)) continue;
    const auto inner = at.match(slot, words().reshape);
    if (!inner) return std::nullopt;
    const Shape shape = at.type((*inner)[0]).shape;
    if (any && shape != source) return std::nullopt;
    source = shape;
    any = true;
  }
  if (!any || source.size() >= at.result.shape.size() || !differ_in_ones(source, at.result.shape))
    return std::nullopt;
  SmallVector<Slot, 3> operands;
  for (Slot slot : at.operands) {
    if (const auto value = at.literal_of(slot)) {
      operands.push_back(at.literal(*value, at.type(slot).dtype[source]));
    } else {
      operands.push_back((*at.match(slot, words().reshape))[0]);
    }
  }
  const Slot bare = at.append(at.primitive, {operands.data(), operands.size()}, at.attributes);
  return at.append(words().reshape, {bare}, {{"shape", {at.result.shape}}});
}

Rules make_rules() {
  const Vocabulary& w = words();
  Rules rules;
  add_rule(rules, {&w.broadcast}, {"broadcast(broadcast x) = broadcast x", "elements move only"},
           broadcast_twice);
  add_rule(rules, {&w.broadcast},
           {"broadcast(reshape x) = broadcast x", "where the reshape adds or removes ones"},
           broadcast_of_reshape);
  add_rule(rules, {&w.reshape},
           {"reshape(broadcast x) = broadcast x",
            "where the reshape adds or removes ones, or x has one element"},
           reshape_of_broadcast);
  add_rule(rules, {&w.transpose},
           {"transpose(broadcast x) = broadcast(transpose x)", "elements move only"},
           transpose_of_broadcast);
  add_rule(rules, {&w.transpose},
           {"transpose f(broadcast x, broadcast y, c) = f(broadcast x, broadcast y, c)",
            "f works element by element, and nothing else needs its result"},
           transpose_of_function);
  add_rule(rules, {&w.transpose},
           {"transpose x = reshape x", "where it only moves axes of extent 1"}, transpose_of_ones);
  for (const Primitive* p : standard_primitives().all()) {
    if (!is_elementwise(*p)) continue;
    add_rule(rules, {p},
             {"f(broadcast x, broadcast y, c) = broadcast f(x, y, c)",
              "every copy has the same result; f works element by element, and x and y are "
              "repeated alike"},
             function_of_broadcasts);
    add_rule(rules, {p},
             {"f(reshape x, reshape y, c) = reshape f(x, y, c)",
              "where the reshapes add axes of extent 1 to the same shape; f works element by "
              "element"},
             function_of_reshapes);
  }
  return rules;
}

}  // namespace

Pass views() {
  static const Rules rules = make_rules();
  return pass_of_rules("views", "chains of broadcasts, reshapes and transposes", rules);
}

}  // namespace hom::optimiser
