// core/operations/update.cc -- reading and writing at indices: x(i…), x.at(i…)
#include <hom/core/operations/update.h>

#include <algorithm>

#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/places.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

using Axis = Places::Axis;
using ResultAxis = Places::ResultAxis;

bool is_tuple(const Axis& axis) { return axis.kind != Axis::Kind::range; }

/// Start, size and step of the ranges; other axes are whole, or their written position alone.
struct Region {
  Shape start;
  Shape size;
  Shape step;
};

Region region_of(const Places& places) {
  Region region;
  for (std::size_t i = 0; i < places.axes.size(); ++i) {
    const Axis& axis = places.axes[i];
    const bool whole = places.is_computed && is_tuple(axis);
    region.start.push_back(whole ? 0 : axis.start);
    region.size.push_back(whole ? places.type.shape[i] : axis.count);
    region.step.push_back(whole ? 1 : axis.step);
  }
  return region;
}

/// Positions as i64; those of u64 beyond its range stay outside.
Tensor as_i64(const Tensor& positions, const Location& at) {
  if (positions.dtype(at) != u64) return positions.astype(i64, at);
  return minimum(Operand(positions, at), Operand(INT64_MAX, at)).astype(i64, at);
}

/// The positions along an axis: a tensor of rank 0 where they are written.
Tensor positions_of(const Axis& axis, const Location& at) {
  if (axis.kind == Axis::Kind::position) return full({}, Operand(axis.start, at), i64, at);
  return as_i64(*axis.positions, at);
}

/// Axes in the order in which gather gives them and scatter takes them: those of the positions,
/// those that `first` chooses, the other ranges, new ones.
template <class First>
Shape tuples_first(const Places& places, First&& first) {
  const auto group = [&](const ResultAxis& each) {
    if (each.kind == ResultAxis::Kind::tuple) return 0;
    if (each.kind == ResultAxis::Kind::newaxis) return 3;
    return first(static_cast<std::size_t>(each.axis)) ? 1 : 2;
  };
  Shape order;
  for (int wanted = 0; wanted < 4; ++wanted) {
    for (std::size_t i = 0; i < places.result.size(); ++i) {
      if (group(places.result[i]) == wanted) order.push_back(static_cast<std::int64_t>(i));
    }
  }
  return order;
}

Tensor read(const Tensor& x, const Places& places, Bounds bounds, const Location& at) {
  require(places.mask == nullptr, at, [] {
    return Complaint{
        "index: how many elements of a mask are true is not known while a program is captured",
        "where(mask, x, 0) keeps the shape; x.at(mask).set(v) writes"};
  });
  const Region region = region_of(places);
  const Tensor part = slice(Operand(x, at), region.start, region.size, region.step);
  if (!places.is_computed) return reshape(Operand(part, at), places.shape());

  std::vector<Tensor> positions;
  Shape axes;
  for (std::size_t i = 0; i < places.axes.size(); ++i) {
    if (!is_tuple(places.axes[i])) continue;
    axes.push_back(static_cast<std::int64_t>(i));
    positions.push_back(positions_of(places.axes[i], at));
  }
  const Tensor indices = stack(positions, -1, at);
  const Tensor elements = gather(Operand(part, at), Operand(indices, at), axes, bounds);
  const Shape order = tuples_first(places, [](std::size_t) { return false; });
  const Shape shape = places.shape();
  Shape ordered;
  Shape back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ordered.push_back(shape[static_cast<std::size_t>(order[i])]);
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  return transpose(Operand(reshape(Operand(elements, at), ordered), at), back);
}

const char* name_of(Combine combine) {
  switch (combine) {
    case Combine::set:
      return "set";
    case Combine::add:
      return "add";
    case Combine::mul:
      return "mul";
    case Combine::min:
      return "min";
    case Combine::max:
      break;
  }
  return "max";
}

Tensor combined(Combine combine, const Tensor& old, const Tensor& value, const Location& at) {
  const Operand a(old, at);
  const Operand b(value, at);
  switch (combine) {
    case Combine::set:
      return value;
    case Combine::add:
      return a + b;
    case Combine::mul:
      return a * b;
    case Combine::min:
      return minimum(a, b);
    case Combine::max:
      break;
  }
  return maximum(a, b);
}

/// The value in the dtype of x, and in the shape of the indexed elements or, of a mask, in one that
/// broadcasts to x.
Tensor value_for(const Places& places, const char* operation, const Operand& value) {
  Shape shape = places.shape();
  if (places.mask != nullptr) {
    shape.assign(places.type.shape.begin() + places.mask->rank(), places.type.shape.end());
  }
  Shape own = value.shape();
  const auto broadcasts = [&] {
    if (own.size() > shape.size()) return false;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] != 1 && own[i] != shape[shape.size() - own.size() + i]) return false;
    }
    return true;
  };
  // As in NumPy's assignment, leading axes of extent 1 do not matter.
  while (own.size() > shape.size() && own[0] == 1) own = Shape(own.begin() + 1, own.end());
  require(broadcasts(), value.at(), [&] {
    return Complaint{std::string(operation) + ": a value " +
                         to_string(value.value().type(value.at())) + " does not broadcast to " +
                         to_string(shape) + ", the shape of the indexed elements of " +
                         to_string(places.type),
                     "extents must be equal or 1, counted from the last axis"};
  });
  const Tensor fit = fitted(operation, "a value", value, places.type.dtype);
  const Tensor trimmed = reshape(Operand(fit, value.at()), own);
  return broadcast_to(Operand(trimmed, value.at()), shape);
}

/// Refuses positions outside before anything is given away, where their values are known.
void require_inside(const Places& places, const char* operation, const Location& at) {
  for (std::size_t i = 0; i < places.axes.size(); ++i) {
    const Axis& axis = places.axes[i];
    if (axis.kind != Axis::Kind::computed || !axis.positions->is_concrete()) continue;
    const std::int64_t extent = places.type.shape[i];
    for (const std::int64_t position : as_i64(*axis.positions, at).to_vector<std::int64_t>(at)) {
      require(0 <= position && position < extent, at, [&] {
        return Complaint{std::string(operation) + ": position " + std::to_string(position) +
                             " is outside axis " + std::to_string(i) + " of " +
                             to_string(places.type),
                         "positions in tensors count from 0 and are never negative; Bounds::clip "
                         "moves them inside, Bounds::drop ignores them"};
      });
    }
  }
}

/// An update to be made: what was checked before the tensor is given away.
class Update {
 public:
  Update(const TensorType& type, std::span<const Index> indices, Combine combine, const char* name,
         const Operand& value, Bounds bounds)
      : at_(value.at()),
        combine_(combine),
        bounds_(bounds),
        places_(places_of(type, indices, indices.front().at())),
        value_(value_for(places_, name, value)) {
    require(combine == Combine::set || !type.dtype.is_bool(), at_, [&] {
      return Complaint{std::string(name) + ": bool elements are set only, as in " + to_string(type),
                       "x.at(i).set(a && b) combines truth values"};
    });
    if (bounds == Bounds::check) require_inside(places_, name, indices.front().at());
  }

  Tensor operator()(Tensor x) const {
    if (places_.mask != nullptr) return by_mask(x);
    if (value_.size(at_) == 0) return x;
    if (!places_.is_computed) return by_region(std::move(x));
    return is_window() ? by_window(std::move(x)) : by_scatter(std::move(x));
  }

 private:
  Tensor by_mask(const Tensor& x) const {
    Shape shape = places_.mask->shape(at_);
    shape.resize(places_.type.shape.size(), 1);
    const Tensor mask = reshape(Operand(*places_.mask, at_), shape);
    const Tensor value = broadcast_to(Operand(value_, at_), places_.type.shape);
    const Tensor changed = combined(combine_, x, value, at_);
    return where(Operand(mask, at_), Operand(changed, at_), Operand(x, at_));
  }

  Tensor by_region(Tensor x) const {
    static const Primitive& p = primitive("update_slice");
    const Region region = region_of(places_);
    Tensor part = reshape(Operand(value_, at_), region.size);
    const bool adds = combine_ == Combine::add;
    if (!adds && combine_ != Combine::set) {
      const Tensor old = slice(Operand(x, at_), region.start, region.size, region.step);
      part = combined(combine_, old, part, at_);
    }
    return in_place(p,
                    {{"start", {region.start}},
                     {"step", {region.step}},
                     {"combine", {std::string(adds ? "add" : "set")}}},
                    std::move(x), std::move(part));
  }

  /// Whether the elements are one window of x with neighbouring elements, whose place is computed.
  bool is_window() const {
    bool window = places_.tuples.empty();
    for (std::size_t i = 0; i < places_.axes.size(); ++i) {
      window = window && places_.axes[i].step == 1 && places_.type.shape[i] > 0;
    }
    return window;
  }

  /// One window costs as much as it has elements, in gradients too; with scatter, the gradient of
  /// `set` would look for the last of several values.
  Tensor by_window(Tensor x) const {
    static const Primitive& p = primitive("dynamic_update_slice");
    std::vector<Tensor> starts;
    Shape size;
    Tensor inside;
    for (std::size_t i = 0; i < places_.axes.size(); ++i) {
      const Axis& axis = places_.axes[i];
      size.push_back(axis.count);
      if (axis.kind != Axis::Kind::computed) {
        starts.push_back(full({1}, Operand(axis.start, at_), i64, at_));
        continue;
      }
      const Tensor position = as_i64(*axis.positions, at_);
      starts.push_back(reshape(Operand(position, at_), {1}));
      const Operand along(position, at_);
      const Tensor here =
          (along >= Operand(0, at_)) && Operand(along < Operand(places_.type.shape[i], at_), at_);
      inside = inside.is_empty() ? here : inside && Operand(here, at_);
    }
    const Tensor start = concat(starts, 0, at_);
    Tensor part = reshape(Operand(value_, at_), size);
    const bool adds = combine_ == Combine::add && bounds_ != Bounds::drop;
    if (bounds_ == Bounds::drop || !(adds || combine_ == Combine::set)) {
      const Bounds reading = bounds_ == Bounds::check ? Bounds::check : Bounds::clip;
      const Tensor old = dynamic_slice(Operand(x, at_), Operand(start, at_), size, reading);
      part = combined(combine_, old, part, at_);
      if (bounds_ == Bounds::drop)
        part = where(Operand(inside, at_), Operand(part, at_), Operand(old, at_));
    }
    return in_place(p,
                    {{"combine", {std::string(adds ? "add" : "set")}},
                     {"mode", {std::string(bounds_ == Bounds::check ? "check" : "clip")}}},
                    std::move(x), std::move(part), start);
  }

  /// Ranges that are not whole axes become positions too, so that the work is that of the elements.
  Tensor by_scatter(Tensor x) const {
    static const Primitive& p = primitive("scatter");
    const auto is_part = [&](std::size_t axis) {
      return !places_.axes[axis].is_whole(places_.type.shape[axis]);
    };
    const Shape order = tuples_first(places_, is_part);
    const Tensor ordered = transpose(Operand(value_, at_), order);
    Shape updates = ordered.shape(at_);
    while (!updates.empty() && is_new(order[updates.size() - 1]))
      updates.resize(updates.size() - 1);

    Shape axes;
    std::vector<Tensor> positions;
    std::size_t parts = 0;
    for (std::size_t i = 0; i < places_.axes.size(); ++i)
      parts += !is_tuple(places_.axes[i]) && is_part(i);
    std::size_t part = 0;
    for (std::size_t i = 0; i < places_.axes.size(); ++i) {
      const Axis& axis = places_.axes[i];
      if (!is_tuple(axis) && !is_part(i)) continue;
      axes.push_back(static_cast<std::int64_t>(i));
      Tensor along = is_tuple(axis) ? positions_of(axis, at_) : elements_of(axis);
      // The common axes of the positions, then one for each range.
      Shape shape = is_tuple(axis) ? along.shape(at_) : Shape{axis.count};
      const std::size_t behind = is_tuple(axis) ? parts : parts - ++part;
      shape.resize(shape.size() + behind, 1);
      positions.push_back(reshape(Operand(along, at_), shape));
    }
    const Tensor indices = stack(positions, -1, at_);
    const char* mode = bounds_ == Bounds::check  ? "check"
                       : bounds_ == Bounds::clip ? "clip"
                                                 : "drop";
    return in_place(p,
                    {{"axes", {axes}},
                     {"combine", {std::string(name_of(combine_))}},
                     {"mode", {std::string(mode)}}},
                    std::move(x), indices, reshape(Operand(ordered, at_), updates));
  }

  bool is_new(std::int64_t result_axis) const {
    return places_.result[static_cast<std::size_t>(result_axis)].kind == ResultAxis::Kind::newaxis;
  }

  Tensor elements_of(const Axis& range) const {
    const Tensor count = arange(range.count, i64, at_);
    const Tensor scaled = Operand(count, at_) * Operand(range.step, at_);
    return Operand(scaled, at_) + Operand(range.start, at_);
  }

  template <class... Others>
  Tensor in_place(const Primitive& p, const Attributes& attributes, Tensor x,
                  Others... others) const {
    // Not a list in braces, which would copy.
    TensorList operands;
    operands.push_back(std::move(x));
    (operands.push_back(std::move(others)), ...);
    return apply_in_place(p, attributes, std::move(operands), at_)[0];
  }

  Location at_;
  Combine combine_;
  Bounds bounds_;
  Places places_;
  Tensor value_;
};

std::vector<Index> present(std::initializer_list<Index> indices) {
  std::vector<Index> list;
  for (const Index& each : indices) {
    if (each.kind() == Index::Kind::absent) break;
    list.push_back(each);
  }
  return list;
}

Tensor read_at(const Tensor& x, std::span<const Index> indices, Bounds bounds, const Location& at) {
  return read(x, places_of(x.type(at), indices, at), bounds, at);
}

Tensor index_list(const Tensor& x, std::initializer_list<Index> list) {
  return index(x, std::span<const Index>(list.begin(), list.size()), list.begin()->at());
}

}  // namespace

namespace detail {
const Index& no_index() {
  static const Index none = Index::absent();
  return none;
}
}  // namespace detail

Tensor index(const Tensor& x, std::span<const Index> indices, const Location& at) {
  return read_at(x, indices, Bounds::check, at);
}

Tensor Tensor::operator[](const Index& i) const { return index(*this, {&i, 1}, i.at()); }
Tensor Tensor::operator()(const Index& a) const { return index(*this, {&a, 1}, a.at()); }
Tensor Tensor::operator()(const Index& a, const Index& b) const {
  return index_list(*this, {a, b});
}
Tensor Tensor::operator()(const Index& a, const Index& b, const Index& c) const {
  return index_list(*this, {a, b, c});
}
Tensor Tensor::operator()(const Index& a, const Index& b, const Index& c, const Index& d) const {
  return index_list(*this, {a, b, c, d});
}
Tensor Tensor::operator()(const Index& a, const Index& b, const Index& c, const Index& d,
                          const Index& e) const {
  return index_list(*this, {a, b, c, d, e});
}
Tensor Tensor::operator()(const Index& a, const Index& b, const Index& c, const Index& d,
                          const Index& e, const Index& f) const {
  return index_list(*this, {a, b, c, d, e, f});
}

Tensor update(Tensor x, std::span<const Index> indices, Combine combine, const Operand& value,
              Bounds bounds) {
  const Update update(x.type(value.at()), indices, combine, name_of(combine), value, bounds);
  return update(std::move(x));
}

Elements Tensor::at(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e,
                    const Index& f) const& {
  return {*this, {a, b, c, d, e, f}};
}
Elements Tensor::at(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e,
                    const Index& f) && {
  return {std::move(*this), {a, b, c, d, e, f}};
}
VariableElements Tensor::at(const Index& a, const Index& b, const Index& c, const Index& d,
                            const Index& e, const Index& f) & {
  return {*this, {a, b, c, d, e, f}};
}

Elements::Elements(Tensor x, std::initializer_list<Index> indices)
    : x_(std::move(x)), indices_(present(indices)) {}

Tensor Elements::get(Bounds bounds) const {
  return read_at(x_, indices_, bounds, indices_.front().at());
}
Tensor Elements::set(const Operand& value, Bounds bounds) const& {
  return update(x_, indices_, Combine::set, value, bounds);
}
Tensor Elements::add(const Operand& value, Bounds bounds) const& {
  return update(x_, indices_, Combine::add, value, bounds);
}
Tensor Elements::mul(const Operand& value, Bounds bounds) const& {
  return update(x_, indices_, Combine::mul, value, bounds);
}
Tensor Elements::min(const Operand& value, Bounds bounds) const& {
  return update(x_, indices_, Combine::min, value, bounds);
}
Tensor Elements::max(const Operand& value, Bounds bounds) const& {
  return update(x_, indices_, Combine::max, value, bounds);
}
Tensor Elements::set(const Operand& value, Bounds bounds) && {
  return update(std::move(x_), indices_, Combine::set, value, bounds);
}
Tensor Elements::add(const Operand& value, Bounds bounds) && {
  return update(std::move(x_), indices_, Combine::add, value, bounds);
}
Tensor Elements::mul(const Operand& value, Bounds bounds) && {
  return update(std::move(x_), indices_, Combine::mul, value, bounds);
}
Tensor Elements::min(const Operand& value, Bounds bounds) && {
  return update(std::move(x_), indices_, Combine::min, value, bounds);
}
Tensor Elements::max(const Operand& value, Bounds bounds) && {
  return update(std::move(x_), indices_, Combine::max, value, bounds);
}

VariableElements::VariableElements(Tensor& variable, std::initializer_list<Index> indices)
    : variable_(&variable), indices_(present(indices)) {}

Tensor VariableElements::get(Bounds bounds) const {
  return read_at(*variable_, indices_, bounds, indices_.front().at());
}
Tensor VariableElements::set(const Operand& value, Bounds bounds) const {
  return update(*variable_, indices_, Combine::set, value, bounds);
}
Tensor VariableElements::add(const Operand& value, Bounds bounds) const {
  return update(*variable_, indices_, Combine::add, value, bounds);
}
Tensor VariableElements::mul(const Operand& value, Bounds bounds) const {
  return update(*variable_, indices_, Combine::mul, value, bounds);
}
Tensor VariableElements::min(const Operand& value, Bounds bounds) const {
  return update(*variable_, indices_, Combine::min, value, bounds);
}
Tensor VariableElements::max(const Operand& value, Bounds bounds) const {
  return update(*variable_, indices_, Combine::max, value, bounds);
}

Tensor& VariableElements::assign(Combine combine, const Operand& value) {
  // All is checked, and a value that is the variable itself is taken, before that is given away.
  const Update update(variable_->type(value.at()), indices_, combine, name_of(combine), value,
                      Bounds::drop);
  return *variable_ = update(std::move(*variable_));
}

Tensor& VariableElements::operator=(const Operand& value) { return assign(Combine::set, value); }
Tensor& VariableElements::operator=(const Elements& other) {
  const Tensor value = other.get();
  return assign(Combine::set, Operand(value, indices_.front().at()));
}
Tensor& VariableElements::operator=(const VariableElements& other) {
  const Tensor value = other.get();
  return assign(Combine::set, Operand(value, indices_.front().at()));
}
Tensor& VariableElements::operator+=(const Operand& value) { return assign(Combine::add, value); }
Tensor& VariableElements::operator*=(const Operand& value) { return assign(Combine::mul, value); }

Tensor& VariableElements::operator-=(const Operand& value) {
  // Not −value of a C++ number, which an unsigned dtype does not hold.
  const Tensor fit = fitted("sub", "a value", value, variable_->dtype(value.at()));
  const Tensor opposite = -Operand(fit, value.at());
  return assign(Combine::add, Operand(opposite, value.at()));
}

Tensor& VariableElements::operator/=(const Operand& value) {
  const Location& at = value.at();
  const Tensor fit = fitted("div", "a value", value, variable_->dtype(at));
  const bool computed = std::any_of(indices_.begin(), indices_.end(), [](const Index& index) {
    return index.kind() == Index::Kind::computed;
  });
  if (!computed) {
    const Tensor old = get();
    const Tensor quotient = Operand(old, at) / Operand(fit, at);
    return assign(Combine::set, Operand(quotient, at));
  }
  const Tensor one = ones_like(Operand(*variable_, at));
  const Tensor divisors = update(one, indices_, Combine::mul, Operand(fit, at), Bounds::drop);
  return *variable_ = Operand(*variable_, at) / Operand(divisors, at);
}

}  // namespace hom
