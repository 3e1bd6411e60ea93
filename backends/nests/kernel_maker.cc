// backends/nests/kernel_maker.cc -- values by pulling: what an element of a slot is, in terms of
// elements of its operands
#include <hom/backends/nests/kernel_maker.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>

#include <hom/backends/nests/domain.h>
#include <hom/core/convert_element.h>
#include <hom/core/primitive.h>

namespace hom::nest {
namespace {

using Indices = SmallVector<Value, 4>;

template <class T>
std::int64_t bits_of(T element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &element, sizeof element);
  return static_cast<std::int64_t>(bits);
}

/// What a reduction of nothing is.
std::int64_t identity_of(Combine combine, Dtype dtype) {
  return visit(dtype, [&]<class T>() {
    double real = combine == Combine::prod || combine == Combine::and_ ? 1 : 0;
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      if (combine == Combine::max) return bits_of(std::numeric_limits<T>::lowest());
      if (combine == Combine::min) return bits_of(std::numeric_limits<T>::max());
    } else {
      if (combine == Combine::max) real = -std::numeric_limits<double>::infinity();
      if (combine == Combine::min) real = std::numeric_limits<double>::infinity();
    }
    return bits_of(convert_element<T>(real));
  });
}

/// An attribute's number as the bits of an element.
std::int64_t bits_of(const Attribute& attribute, Dtype dtype) {
  return visit(dtype, [&]<class T>() {
    const T element = number<T>(attribute);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    return static_cast<std::int64_t>(bits);
  });
}

bool is_half(Dtype dtype) { return dtype == f16 || dtype == bf16; }

Combine combine_named(const std::string& name) {
  if (name == "add") return Combine::sum;
  if (name == "mul") return Combine::prod;
  if (name == "min") return Combine::min;
  if (name == "max") return Combine::max;
  return Combine::set;
}

Combine reduction_named(const std::string& name) {
  static const std::map<std::string, Combine> table{
      {"reduce_sum", Combine::sum}, {"reduce_prod", Combine::prod}, {"reduce_max", Combine::max},
      {"reduce_min", Combine::min}, {"reduce_and", Combine::and_},  {"reduce_or", Combine::or_},
      {"argmax", Combine::argmax},  {"argmin", Combine::argmin}};
  return table.at(name);
}

Function function_of(Combine combine) {
  switch (combine) {
    case Combine::prod:
      return Function::mul;
    case Combine::max:
      return Function::max;
    case Combine::min:
      return Function::min;
    case Combine::and_:
      return Function::and_;
    case Combine::or_:
      return Function::or_;
    default:
      return Function::add;
  }
}

class Maker {
 public:
  Maker(const Program& program, const Partition& partition, const Group& group, std::uint32_t item,
        std::uint32_t first_step)
      : program_(program),
        partition_(partition),
        group_(group),
        item_(item),
        first_step_(first_step) {
    draft().extents = group.extents;
    draft().loops = group.loops;
  }

  DraftOfGroup run() &&;

 private:
  Draft& draft() { return result_.draft; }
  Values& values() { return result_.draft.values; }
  const TensorType& type(Slot slot) const { return program_.type(slot); }
  std::uint32_t origin(const Step& step) const {
    return first_step_ + program_.definition(step.first_result);
  }

  Value value_of(const Entry& entry);
  Indices indices_of(const Index& index);
  std::size_t loop_around(AxisSet axes) const;

  std::uint32_t buffer_of(Slot slot, bool is_written);
  Value load(Slot slot, const Indices& at, Value when);
  Value pull(Slot slot, const Indices& at, Value when);
  Value computed(Slot slot, const Indices& at);
  Value elementwise(const Step& step, Slot slot, const Indices& at);
  Value viewed(const Step& step, Slot slot, const Indices& at, Value when);
  Value concatenated(const Step& step, const Indices& at, Value when);
  Value padded(const Step& step, const Indices& at, Value when);
  Value chosen(const Step& step, const Indices& at);
  Value reduction(const Step& step, Slot slot, const Indices& at);
  Value contraction(const Step& step, Slot slot, const Indices& at);
  Value gathered(const Step& step, const Indices& at, Value when);
  Value sliced(const Step& step, const Indices& at);
  Value literal(const Step& step, Slot slot, const Indices& at);
  /// All that an element sums where its terms are unrolled, in order.
  std::vector<Value> unrolled_terms(const Step& step, Slot slot,
                                    const std::function<Value(const Index&)>& term);
  /// The sum of values in the order of ordered_sum.h.
  Value folded(std::vector<Value> terms, Combine combine, Dtype dtype, std::uint32_t step);
  Value summed(const Step& step, Slot slot, Combine combine, Dtype result,
               const std::function<Value(const Index&)>& term);
  Dtype computed_in(Dtype dtype) const { return is_half(dtype) ? f32 : dtype; }

  /// An integer that says where, as an index from 0 to `last`.
  struct Place {
    Value index;
    /// Whether it is in range (`drop`), or known to be.
    Value inside;
  };
  /// Only where `when` holds does it matter.
  Place place(const Step& step, Value given, std::int64_t last, std::int64_t axis, Value when);
  void check(Value ok, Value offending, const Step& step, std::int64_t axis);

  void store(const Stored& stored);
  void update(const Step& step);
  void cumulative(const Step& step);

  const Program& program_;
  const Partition& partition_;
  const Group& group_;
  std::uint32_t item_;
  std::uint32_t first_step_;
  DraftOfGroup result_;
  std::map<Slot, std::uint32_t> buffers_;
  std::map<std::vector<std::uint32_t>, Value> known_;
};

Value Maker::value_of(const Entry& entry) {
  if (entry.kind != Entry::Kind::axes) return values().position(entry.position);
  Value value = values().position(0);
  for (Axis axis : entry.axes) {
    value = values().add(values().scale(value, group_.extents[axis]),
                         values().axis(axis, group_.extents[axis]));
  }
  return value;
}

Indices Maker::indices_of(const Index& index) {
  Indices indices;
  for (const Entry& entry : index) indices.push_back(value_of(entry));
  return indices;
}

/// The outermost loop inside which all these axes have a position.
std::size_t Maker::loop_around(AxisSet axes) const {
  std::size_t best = 0;
  int best_count = 65;
  for (std::size_t n = 0; n < group_.loops.size(); ++n) {
    AxisSet path = 0;
    for (int m = static_cast<int>(n); m >= 0;
         m = group_.loops[static_cast<std::size_t>(m)].parent) {
      for (Axis axis : group_.loops[static_cast<std::size_t>(m)].axes) path |= axis_bit(axis);
    }
    if ((axes & ~path) != 0 || std::popcount(path) >= best_count) continue;
    best = n;
    best_count = std::popcount(path);
  }
  ensure(best_count < 65, "every value of a group has a loop");
  return best;
}

std::uint32_t Maker::buffer_of(Slot slot, bool is_written) {
  const Slot owner = partition_.slots[slot].buffer;
  const auto [found, is_new] =
      buffers_.emplace(owner, static_cast<std::uint32_t>(draft().buffers.size()));
  if (is_new) {
    draft().buffers.push_back({.dtype = type(slot).dtype,
                               .elements = type(slot).size(),
                               .label = slot_name(program_, owner)});
    result_.arguments.push_back(owner);
  }
  Buffer& buffer = draft().buffers[found->second];
  (is_written ? buffer.is_written : buffer.is_read) = true;
  return found->second;
}

Value Maker::load(Slot slot, const Indices& at, Value when) {
  if (type(slot).size() == 0) return values().constant(type(slot).dtype, 0);
  const Value index = values().flat({at.data(), at.size()}, row_major_strides(type(slot).shape));
  return values().load(buffer_of(slot, false), type(slot).dtype, index, when, Node::no_step);
}

Value Maker::pull(Slot slot, const Indices& at, Value when) {
  std::vector<std::uint32_t> key{slot, when};
  key.insert(key.end(), at.begin(), at.end());
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const Placement& p = partition_.slots[slot];
  Value value;
  const bool is_here = p.is_member && p.item == item_;
  if (is_here) {
    ensure(values().known(when) == 1, "what a group computes is read where it is computed");
    value = computed(slot, at);
  } else if (p.role == Role::leaf) {
    value = literal(program_.step(program_.definition(slot)), slot, at);
  } else if ((p.role == Role::view || p.role == Role::barrier) && !p.is_member) {
    value = viewed(program_.step(program_.definition(slot)), slot, at, when);
  } else {
    value = load(slot, at, when);
  }
  known_.emplace(std::move(key), value);
  return value;
}

Value Maker::literal(const Step& step, Slot slot, const Indices& at) {
  const Dtype dtype = type(slot).dtype;
  if (step.primitive.name != "constant" && step.primitive.name != "iota")
    return elementwise(step, slot, at);
  if (step.primitive.name == "constant")
    return values().constant(dtype, bits_of(step.attributes.get("value"), dtype));
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  return values().convert(at[axis], dtype, origin(step));
}

Value Maker::viewed(const Step& step, Slot slot, const Indices& at, Value when) {
  const std::string& name = step.primitive.name;
  if (name == "concat") return concatenated(step, at, when);
  if (name == "pad") return padded(step, at, when);
  if (name == "gather") return gathered(step, at, when);
  const Slot operand =
      name == "barrier" ? step.operands[slot - step.first_result] : step.operands[0];
  const Shape& from = type(operand).shape;
  const Shape& to = type(slot).shape;
  Indices index(from.size(), values().position(0));
  if (name == "broadcast_in_dim") {
    const Shape& axes = step.attributes.shape("axes");
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] != 1) index[i] = at[static_cast<std::size_t>(axes[i])];
    }
  } else if (name == "transpose") {
    const Shape& permutation = step.attributes.shape("permutation");
    for (std::size_t i = 0; i < to.size(); ++i)
      index[static_cast<std::size_t>(permutation[i])] = at[i];
  } else if (name == "slice") {
    for (std::size_t i = 0; i < to.size(); ++i) {
      index[i] = values().add(values().scale(at[i], step.attributes.shape("step")[i]),
                              values().position(step.attributes.shape("start")[i]));
    }
  } else if (name == "reshape") {
    Value rest = values().flat({at.data(), at.size()}, row_major_strides(to));
    for (std::size_t i = from.size(); i-- > 0;) {
      const bool is_last = std::all_of(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(i),
                                       [](std::int64_t extent) { return extent == 1; });
      if (from[i] == 1) continue;
      index[i] = is_last ? rest : values().remainder(rest, from[i]);
      if (is_last) break;
      rest = values().quotient(rest, from[i]);
    }
  } else {
    index = at;  // stop_gradient, barrier
  }
  return pull(operand, index, when);
}

Value Maker::concatenated(const Step& step, const Indices& at, Value when) {
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  std::optional<Value> result;
  std::int64_t first = type(step.first_result).shape[axis];
  // From the last part to the first: each is what lies below the next one's start.
  for (std::size_t k = step.operands.size(); k-- > 0;) {
    const std::int64_t extent = type(step.operands[k]).shape[axis];
    const std::int64_t end = first;
    first -= extent;
    if (extent == 0) continue;
    const Value is_after = values().is_below(values().position(first - 1), at[axis]);
    const Value is_before = values().is_below(at[axis], values().position(end));
    const Value inside = values().both(is_after, is_before);
    if (values().known(inside) == 0) continue;
    Indices part = at;
    part[axis] = values().add(at[axis], values().position(-first));
    const Value element = pull(step.operands[k], part, values().both(when, inside));
    result = result ? values().apply(Function::select, type(step.first_result).dtype,
                                     {inside, element, *result}, origin(step))
                    : element;
  }
  return *result;
}

Value Maker::padded(const Step& step, const Indices& at, Value when) {
  const Shape& shape = type(step.operands[0]).shape;
  Value inside = values().truth(type(step.operands[0]).size() > 0);
  Indices index = at;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t stride = step.attributes.shape("interior")[i] + 1;
    const std::int64_t low = step.attributes.shape("low")[i];
    const std::int64_t reach = std::max<std::int64_t>(0, (shape[i] - 1) * stride);
    const Value from_low = values().add(at[i], values().position(-low));
    inside = values().both(inside, values().is_below(values().position(-1), from_low));
    inside = values().both(inside, values().is_below(from_low, values().position(reach + 1)));
    index[i] = from_low;
    if (stride == 1) continue;
    // Shifted by a multiple of the stride, so that it is not negative.
    const std::int64_t shift = low > 0 ? (low + stride - 1) / stride * stride : 0;
    const Value shifted = values().add(from_low, values().position(shift));
    inside = values().both(
        inside, values().is_below(values().remainder(shifted, stride), values().position(1)));
    index[i] = values().add(values().quotient(shifted, stride), values().position(-shift / stride));
  }
  const Value outside = pull(step.operands[1], {}, when);
  if (values().known(inside) == 0) return outside;
  const Value element = pull(step.operands[0], index, values().both(when, inside));
  return values().apply(Function::select, type(step.first_result).dtype, {inside, element, outside},
                        origin(step));
}

Value Maker::computed(Slot slot, const Indices& at) {
  const Step step = program_.step(program_.definition(slot));
  const Value always = values().truth(true);
  switch (partition_.slots[slot].role) {
    case Role::view:
      return viewed(step, slot, at, always);
    case Role::chosen:
      return chosen(step, at);
    case Role::reduction:
      return reduction(step, slot, at);
    case Role::contraction:
      return contraction(step, slot, at);
    case Role::reading:
      if (step.primitive.name == "pad") return padded(step, at, always);
      return step.primitive.name == "gather" ? gathered(step, at, always) : sliced(step, at);
    default:
      return elementwise(step, slot, at);
  }
}

Value Maker::elementwise(const Step& step, Slot slot, const Indices& at) {
  const Value always = values().truth(true);
  SmallVector<Value, 3> x;
  for (Slot operand : step.operands) x.push_back(pull(operand, at, always));
  const Dtype dtype = type(slot).dtype;
  const std::string& name = step.primitive.name;
  const std::uint32_t from = origin(step);
  if (name == "convert") return values().convert(x[0], dtype, from);
  if (name == "bitcast") return values().bitcast(x[0], dtype, from);
  const Function function = *function_named(name);
  std::int64_t parameter = 0;
  if (function == Function::polygamma) parameter = step.attributes.integer("n");
  if (function == Function::log_gamma_slope) parameter = step.attributes.integer("k");
  if (function == Function::pow && dtype.is_signed_integer()) {
    const Value zero = values().constant(dtype, 0);
    const Value ok = values().apply(Function::ge, bool_, {x[1], zero}, from);
    check(ok, values().convert(x[1], i64, from), step, 0);
  }
  if (x.size() == 1) return values().apply(function, dtype, {x[0]}, from, parameter);
  if (x.size() == 2) return values().apply(function, dtype, {x[0], x[1]}, from, parameter);
  return values().apply(function, dtype, {x[0], x[1], x[2]}, from, parameter);
}

Value Maker::chosen(const Step& step, const Indices& at) {
  const Value always = values().truth(true);
  const Shape& window = type(step.operands[1]).shape;
  const Shape& start = step.attributes.shape("start");
  const Shape& stride = step.attributes.shape("step");
  Indices index = at;
  bool inside = true;
  for (std::size_t i = 0; i < at.size() && inside; ++i) {
    const auto position = values().known(at[i]);
    if (!position) continue;
    const std::int64_t from_start = *position - start[i];
    inside = from_start % stride[i] == 0 && from_start / stride[i] >= 0 &&
             from_start / stride[i] < window[i];
    index[i] = values().position(from_start / stride[i]);
  }
  if (!inside) return pull(step.operands[0], at, always);
  const Value update = pull(step.operands[1], index, always);
  if (step.attributes.string("combine") == "set") return update;
  return values().apply(Function::add, type(step.first_result).dtype,
                        {pull(step.operands[0], at, always), update}, origin(step));
}

Value Maker::folded(std::vector<Value> terms, Combine combine, Dtype dtype, std::uint32_t step) {
  constexpr std::size_t lanes = 8;
  const Function function = function_of(combine);
  const Dtype wide = computed_in(dtype);
  for (Value& term : terms) term = values().convert(term, wide, step);
  const auto merged = [&](Value a, Value b) {
    return values().apply(function, wide, {a, b}, step);
  };
  // Lane by lane, then in halves; what is missing is the identity and changes nothing.
  std::vector<Value> lane(
      terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(std::min(lanes, terms.size())));
  for (std::size_t i = lanes; i < terms.size(); ++i)
    lane[i % lanes] = merged(lane[i % lanes], terms[i]);
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = half; i < std::min(2 * half, lane.size()); ++i)
      lane[i - half] = merged(lane[i - half], lane[i]);
    lane.resize(std::min(half, lane.size()));
  }
  // The identity of sums is +0, so a sum of −0 alone is +0.
  if (combine == Combine::sum && dtype.is_float())
    lane[0] = merged(lane[0], values().constant(wide, 0));
  return values().convert(lane[0], dtype, step);
}

std::vector<Value> Maker::unrolled_terms(const Step& step, Slot slot,
                                         const std::function<Value(const Index&)>& term) {
  const Placement& p = partition_.slots[slot];
  const SmallVector<bool, 4> is_summed = summed_axes(program_, step, p.role);
  Index terms = p.terms;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!is_summed[i] && terms[i].kind == Entry::Kind::unrolled) terms[i].kind = Entry::Kind::unit;
  }
  std::vector<Value> all;
  for (const Index& one : instances_of(terms, domain_of(program_, step, p.role)))
    all.push_back(term(one));
  return all;
}

Value Maker::summed(const Step& step, Slot slot, Combine combine, Dtype result,
                    const std::function<Value(const Index&)>& term) {
  const Placement& p = partition_.slots[slot];
  if (type(step.operands[0]).size() == 0)
    return values().constant(result, identity_of(combine, result));
  if (p.summed.empty()) {
    // All unrolled, or of extent 1.
    const std::vector<Value> all = unrolled_terms(step, slot, term);
    if (all.size() == 1) {
      if (combine == Combine::argmax || combine == Combine::argmin) return values().position(0);
      if (combine != Combine::sum || !result.is_float())
        return values().convert(all[0], result, origin(step));
    }
    return folded(all, combine, result, origin(step));
  }
  AxisSet along = 0;
  for (Axis axis : p.summed) along |= axis_bit(axis);
  const Value value = term(p.terms);
  const Value reduced = values().reduced(result, value, along, origin(step));
  draft().reductions.push_back({combine, value, reduced, p.summed, loop_around(axes_of(p.at)),
                                loop_around(axes_of(p.terms))});
  // What is looked up at such a place need not be checked.
  if (combine == Combine::argmax || combine == Combine::argmin)
    return values().within(reduced, 0, type(step.operands[0]).size() / type(slot).size() - 1);
  return reduced;
}

Value Maker::reduction(const Step& step, Slot slot, const Indices& at) {
  const Combine combine = reduction_named(step.primitive.name);
  const SmallVector<bool, 4> is_summed = summed_axes(program_, step, Role::reduction);
  const bool is_place = combine == Combine::argmax || combine == Combine::argmin;
  const Dtype dtype = type(slot).dtype;
  const auto term = [&](const Index& terms) {
    Indices index;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < terms.size(); ++i)
      index.push_back(is_summed[i] ? value_of(terms[i]) : at[kept++]);
    return pull(step.operands[0], index, values().truth(true));
  };
  return summed(step, slot, combine, is_place ? i64 : dtype, term);
}

Value Maker::contraction(const Step& step, Slot slot, const Indices& at) {
  const ContractionAxes axes = contraction_axes(program_, step);
  const Dtype dtype = type(slot).dtype;
  // 16-bit floats are multiplied and added in f32, and rounded once.
  const Dtype wide = computed_in(dtype);
  const auto term = [&](const Index& terms) {
    Indices lhs(type(step.operands[0]).shape.size(), values().position(0));
    Indices rhs(type(step.operands[1]).shape.size(), values().position(0));
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Value index = i < at.size() ? at[i] : value_of(terms[i]);
      if (axes.lhs[i] >= 0) lhs[static_cast<std::size_t>(axes.lhs[i])] = index;
      if (axes.rhs[i] >= 0) rhs[static_cast<std::size_t>(axes.rhs[i])] = index;
    }
    const Value always = values().truth(true);
    const std::uint32_t from = origin(step);
    const Value a = values().convert(pull(step.operands[0], lhs, always), wide, from);
    const Value b = values().convert(pull(step.operands[1], rhs, always), wide, from);
    return values().apply(Function::mul, wide, {a, b}, from);
  };
  // In the order of matrix_product.h: one after the other, from +0.
  const std::vector<Value> all = unrolled_terms(step, slot, term);
  Value total = all[0];
  const auto added = [&](Value a, Value b) {
    return values().apply(Function::add, wide, {a, b}, origin(step));
  };
  for (std::size_t i = 1; i < all.size(); ++i) total = added(total, all[i]);
  if (wide.is_float()) total = added(total, values().constant(wide, 0));
  return values().convert(total, dtype, origin(step));
}

void Maker::check(Value ok, Value offending, const Step& step, std::int64_t axis) {
  if (values().known(ok) == 1) return;
  // Instances of unrolled axes often ask the same.
  for (const Goal& goal : draft().goals) {
    const auto* known = std::get_if<Check>(&goal.is);
    if (known == nullptr || known->ok != ok || known->offending != offending) continue;
    const Failure& failure = draft().failures[known->failure];
    if (failure.step == origin(step) && failure.axis == axis) return;
  }
  const auto failure = static_cast<std::uint32_t>(draft().failures.size());
  draft().failures.push_back({origin(step), axis});
  draft().goals.push_back(
      {Check{ok, offending, failure}, loop_around(values().axes(ok) | values().axes(offending))});
}

Maker::Place Maker::place(const Step& step, Value given, std::int64_t last, std::int64_t axis,
                          Value when) {
  const std::uint32_t from = origin(step);
  if (values()[given].dtype == u64) {
    const Value most = values().constant(u64, INT64_MAX);
    given = values().apply(Function::min, u64, {given, most}, from);
  }
  const Value index = values().convert(given, i64, from);
  const std::string& mode = step.attributes.string("mode");
  const Value is_low = values().is_below(values().position(-1), index);
  const Value is_high = values().is_below(index, values().position(last + 1));
  const Value inside = values().both(is_low, is_high);
  const bool is_empty = last < 0;
  const Value always = values().truth(true);
  if (mode == "check") {
    const Value ok = values().known(when) == 1
                         ? inside
                         : values().apply(Function::select, bool_, {when, inside, always}, from);
    check(ok, index, step, axis);
  }
  if (values().known(inside) == 1) return {index, always};
  if (is_empty) return {values().position(0), values().truth(false)};
  if (mode == "drop") return {index, inside};
  const Value not_low = values().apply(Function::max, i64, {index, values().position(0)}, from);
  const Value clipped =
      values().apply(Function::min, i64, {not_low, values().position(last)}, from);
  return {values().within(clipped, 0, last), always};
}

Value Maker::gathered(const Step& step, const Indices& at, Value wanted) {
  const Shape& axes = step.attributes.shape("axes");
  const Slot data = step.operands[0];
  const Shape& shape = type(data).shape;
  const std::size_t batch = type(step.operands[1]).shape.size() - 1;
  Indices index(shape.size(), values().position(0));
  Value when = values().truth(true);
  Indices coordinate(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(batch));
  coordinate.push_back(values().position(0));
  for (std::size_t j = 0; j < axes.size(); ++j) {
    coordinate[batch] = values().position(static_cast<std::int64_t>(j));
    const Value given = pull(step.operands[1], coordinate, wanted);
    const auto axis = static_cast<std::size_t>(axes[j]);
    const Place found = place(step, given, shape[axis] - 1, axes[j], wanted);
    index[axis] = found.index;
    when = values().both(when, found.inside);
  }
  std::size_t rest = batch;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
      index[i] = at[rest++];
  }
  if (type(data).size() == 0 || values().known(when) == 0)
    return values().constant(type(data).dtype, 0);
  const Value element = pull(data, index, values().both(wanted, when));
  if (values().known(when) == 1) return element;
  return values().apply(Function::select, type(data).dtype,
                        {when, element, values().constant(type(data).dtype, 0)}, origin(step));
}

Value Maker::sliced(const Step& step, const Indices& at) {
  const Slot data = step.operands[0];
  const Shape& shape = type(data).shape;
  const Shape& size = step.attributes.shape("size");
  Indices index;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Value start = pull(step.operands[1], {values().position(static_cast<std::int64_t>(i))},
                             values().truth(true));
    const Place found =
        place(step, start, shape[i] - size[i], static_cast<std::int64_t>(i), values().truth(true));
    index.push_back(values().add(found.index, at[i]));
  }
  return pull(data, index, values().truth(true));
}

void Maker::store(const Stored& stored) {
  const Shape& shape = type(stored.value).shape;
  const std::size_t loop = loop_around(axes_of(stored.at));
  const std::uint32_t buffer = buffer_of(stored.into, true);
  for (const Index& one : instances_of(stored.at, shape)) {
    const Indices at = indices_of(one);
    const Value value = pull(stored.value, at, values().truth(true));
    const Value index = values().add(values().flat({at.data(), at.size()}, stored.strides),
                                     values().position(stored.offset));
    draft().goals.push_back({Store{buffer, index, value}, loop});
  }
}

void Maker::update(const Step& step) {
  const bool is_scatter = step.primitive.name == "scatter";
  const Slot result = step.first_result;
  const Slot given = step.operands[is_scatter ? 2 : 1];
  const Index& domain = partition_.slots[result].at;
  const Shape& whole = type(result).shape;
  const Combine combine = combine_named(step.attributes.string("combine"));
  const std::uint32_t buffer = buffer_of(result, true);
  if (combine != Combine::set) buffer_of(result, false);
  const std::size_t loop = loop_around(axes_of(domain));
  for (const Index& one : instances_of(domain, type(given).shape)) {
    const Indices at = indices_of(one);
    Indices into(whole.size(), values().position(0));
    Value when = values().truth(true);
    if (is_scatter) {
      const Shape& axes = step.attributes.shape("axes");
      const std::size_t batch = type(step.operands[1]).shape.size() - 1;
      Indices coordinate(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(batch));
      coordinate.push_back(values().position(0));
      for (std::size_t j = 0; j < axes.size(); ++j) {
        coordinate[batch] = values().position(static_cast<std::int64_t>(j));
        const auto axis = static_cast<std::size_t>(axes[j]);
        const Value where = pull(step.operands[1], coordinate, values().truth(true));
        const Place found = place(step, where, whole[axis] - 1, axes[j], values().truth(true));
        into[axis] = found.index;
        when = values().both(when, found.inside);
      }
      std::size_t rest = batch;
      for (std::size_t i = 0; i < whole.size(); ++i) {
        if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
          into[i] = at[rest++];
      }
    } else {
      const bool is_static = step.primitive.name == "update_slice";
      for (std::size_t i = 0; i < whole.size(); ++i) {
        if (is_static) {
          into[i] = values().add(values().scale(at[i], step.attributes.shape("step")[i]),
                                 values().position(step.attributes.shape("start")[i]));
          continue;
        }
        const Value start =
            pull(step.operands[2], {values().position(static_cast<std::int64_t>(i))},
                 values().truth(true));
        const Place found = place(step, start, whole[i] - type(given).shape[i],
                                  static_cast<std::int64_t>(i), values().truth(true));
        into[i] = values().add(found.index, at[i]);
      }
    }
    if (values().known(when) == 0) continue;
    Store store{buffer, values().flat({into.data(), into.size()}, row_major_strides(whole)),
                pull(given, at, values().truth(true)), combine};
    if (values().known(when) != 1) store.when = when;
    draft().goals.push_back({store, loop});
  }
}

void Maker::cumulative(const Step& step) {
  const Slot result = step.first_result;
  const Index& domain = partition_.slots[result].at;
  const Dtype dtype = type(result).dtype;
  const std::uint32_t from = origin(step);
  const Indices at = indices_of(domain);
  const auto along = static_cast<std::size_t>(step.attributes.integer("axis"));
  const std::string& name = step.primitive.name;
  const Value x = pull(step.operands[0], at, values().truth(true));
  const std::uint32_t buffer = buffer_of(result, true);
  const Value index = values().flat({at.data(), at.size()}, row_major_strides(type(result).shape));
  const std::size_t loop = loop_around(axes_of(domain));
  const std::int64_t extent = type(result).shape[along];
  const bool reverse = step.attributes.boolean("reverse");
  const AxisSet on = axes_of(domain);
  const bool sums = name == "cumsum";
  const bool is_running = sums || name == "cumprod";
  const Dtype carry = is_running && dtype.is_float() ? f64 : dtype;
  std::vector<Carry> carries;
  Value value;
  if (is_running) {
    const std::int64_t one = carry == f64 ? bits_of(1.0) : 1;
    const Value start = values().constant(carry, sums ? 0 : one);
    const Value state = values().carried(carry, on, from);
    const Value term = values().convert(x, carry, from);
    const Value total =
        values().apply(sums ? Function::add : Function::mul, carry, {state, term}, from);
    carries.push_back({state, start, total});
    value = values().convert(total, dtype, from);
    if (sums && dtype == f64) {
      // Neumaier: the error of each addition is summed beside.
      const Value error = values().carried(f64, on, from);
      const auto apply = [&](Function function, Dtype result_dtype,
                             std::initializer_list<Value> operands) {
        return values().apply(function, result_dtype, operands, from);
      };
      const Value is_larger =
          apply(Function::ge, bool_,
                {apply(Function::abs, f64, {state}), apply(Function::abs, f64, {term})});
      const Value of_term =
          apply(Function::add, f64, {apply(Function::sub, f64, {state, total}), term});
      const Value of_sum =
          apply(Function::add, f64, {apply(Function::sub, f64, {term, total}), state});
      const Value lost = apply(Function::select, f64, {is_larger, of_term, of_sum});
      const Value next = apply(Function::add, f64, {error, lost});
      carries.push_back({error, values().constant(f64, 0), next});
      value = apply(Function::select, f64,
                    {apply(Function::is_finite, bool_, {total}),
                     apply(Function::add, f64, {total, next}), total});
    }
  } else {
    const Value state = values().carried(dtype, on, from);
    const Function function = name == "cummax" ? Function::max : Function::min;
    const Value extreme = values().apply(function, dtype, {state, x}, from);
    const Value first = values().position(reverse ? extent - 1 : 0);
    const Value is_first = values().apply(Function::eq, bool_, {at[along], first}, from);
    value = extent == 1 ? x : values().apply(Function::select, dtype, {is_first, x, extreme}, from);
    carries.push_back({state, values().constant(dtype, 0), value});
  }
  draft().goals.push_back({Store{buffer, index, value}, loop});
  if (extent == 1) {
    // One term: nothing is carried, but the state is what it starts as.
    Value only = x;
    if (is_running) {
      const Value start = carries[0].initial;
      const Value term = values().convert(x, carry, from);
      only = values().convert(
          values().apply(sums ? Function::add : Function::mul, carry, {start, term}, from), dtype,
          from);
    }
    std::get<Store>(draft().goals.back().is).value = only;
    return;
  }
  draft().carries = PendingCarries{std::move(carries), domain[along].axes[0], reverse};
}

DraftOfGroup Maker::run() && {
  if (group_.last_step) {
    const Step step = program_.step(*group_.last_step);
    partition_.slots[step.first_result].role == Role::cumulative ? cumulative(step) : update(step);
  }
  for (const Stored& stored : group_.stores) store(stored);
  for (Slot member : group_.members) {
    const Placement& p = partition_.slots[member];
    if (p.is_stored) store({member, p.at, member, 0, row_major_strides(type(member).shape)});
  }
  return std::move(result_);
}

}  // namespace

DraftOfGroup draft_of(const Program& program, const Partition& partition, const Group& group,
                      std::uint32_t item, std::uint32_t first_step) {
  return Maker(program, partition, group, item, first_step).run();
}

}  // namespace hom::nest
