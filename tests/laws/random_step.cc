// tests/laws/random_step.cc -- one random step of any primitive: attributes that type, operands to
// be found
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <hom/core/operations/broadcasting.h>
#include <hom/tests/laws/random_rules.h>

namespace hom::laws {

Shape random_permutation(std::int64_t rank, Choices& choices) {
  Shape list(static_cast<std::size_t>(rank));
  std::iota(list.begin(), list.end(), 0);
  for (std::int64_t i = rank; i > 1; --i)
    std::swap(list.begin()[i - 1], list.begin()[choices.below(i)]);
  return list;
}

Shape random_axes(std::int64_t rank, Choices& choices) {
  Shape axes;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (choices.one_in(2)) axes.push_back(axis);
  }
  return axes;
}

Dtype random_dtype(DtypeSet dtypes, Choices& choices) {
  for (;;) {
    const Dtype dtype = choices.among(all_dtypes);
    if (dtypes.contains(dtype)) return dtype;
  }
}

void set(StepSketch& step, std::string_view name, Attribute value) {
  // The name that the primitive owns, so that it outlives the program.
  for (const AttributeSpec& spec : step.primitive->attributes) {
    if (spec.name == name) step.attributes.set(spec.name, std::move(value));
  }
}

namespace {

/// A number that an element of the dtype holds; the edge cases among them.
Attribute random_number(Dtype dtype, Domain domain, Choices& choices) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const std::vector<double> special = {0,   -0.0,     1,         -1,          2,
                                              0.5, infinity, -infinity, std::nan("")};
  if (dtype.is_bool()) return {choices.one_in(2)};
  if (!dtype.is_float()) {
    return {choices.between(dtype.is_unsigned_integer() ? 0 : -2, 3)};
  }
  double value = domain == Domain::wild ? choices.among(special) : choices.real(-2, 2);
  static const std::vector<double> plain = {0, 1, 2};
  if (domain != Domain::wild && choices.one_in(2)) value = choices.among(plain);
  return rounded({value}, dtype);
}

/// A regular part of each axis: element i is start + i·step.
struct Part {
  Shape start;
  Shape size;
  Shape step;
};

Part random_part(const Shape& shape, Choices& choices) {
  Part part;
  for (std::int64_t n : shape) {
    // Empty parts are rare, so that values are left.
    const std::int64_t size =
        choices.one_in(12) ? 0 : choices.between(std::min<std::int64_t>(n, 1), n);
    std::int64_t step = size > 1 ? choices.between(1, (n - 1) / (size - 1)) : choices.between(1, 3);
    std::int64_t start = size > 0 ? choices.below(n - (size - 1) * step) : 0;
    if (choices.one_in(3)) {
      if (size > 0) start += (size - 1) * step;
      step = -step;
    }
    part.start.push_back(start);
    part.size.push_back(size);
    part.step.push_back(step);
  }
  return part;
}

const char* random_combine(Dtype dtype, std::initializer_list<const char*> combines,
                           Choices& choices) {
  return dtype.is_bool() ? "set" : choices.among(combines);
}

Dtype index_dtype(Choices& choices) { return random_dtype(integers, choices); }

bool stated(StepSketch& step, const TensorType& x) {
  step.operands.clear();
  step.data = -1;
  set(step, "dtype", {x.dtype});
  set(step, "shape", {x.shape});
  return true;
}

bool constant(StepSketch& step, const TensorType& x, Domain domain, Choices& choices) {
  set(step, "value", random_number(x.dtype, domain, choices));
  return stated(step, x);
}

/// The builder numbers tensors from the closure itself.
bool captured(StepSketch& step, const TensorType& x, Domain, Choices&) {
  set(step, "index", {std::int64_t{0}});
  return stated(step, x);
}

bool positions(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  if (x.shape.empty()) return false;
  stated(step, x);
  set(step, "axis", {choices.below(x.rank())});
  return true;
}

bool random_bits(StepSketch& step, const TensorType& x, Domain, Choices&) {
  stated(step, x);
  step.operands = {{u32[{2}]}};
  return true;
}

bool convert(StepSketch& step, const TensorType&, Domain domain, Choices& choices) {
  const DtypeSet targets = domain == Domain::smooth ? DtypeSet{bool_, i32, i64, f64} : every_dtype;
  set(step, "dtype", {random_dtype(targets, choices)});
  return true;
}

bool bitcast(StepSketch& step, const TensorType& x, Domain domain, Choices& choices) {
  // Bits of floats jump, and bits that become floats are anything.
  if (domain == Domain::smooth && x.dtype.is_float()) return false;
  DtypeSet targets;
  for (Dtype dtype : all_dtypes) {
    const bool fits = dtype.size() == x.dtype.size() && dtype.is_bool() == x.dtype.is_bool();
    if (fits && !(domain != Domain::wild && dtype.is_float())) targets = targets | DtypeSet{dtype};
  }
  if (targets == DtypeSet{}) return false;
  set(step, "dtype", {random_dtype(targets, choices)});
  return true;
}

bool broadcast_in_dim(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  Shape shape;
  Shape axes;
  std::int64_t size = std::max<std::int64_t>(x.size(), 1);
  const auto factor = [&] {
    const std::int64_t n = choices.between(1, 3);
    if (size * n > 100) return std::int64_t{1};
    size *= n;
    return n;
  };
  for (std::int64_t extent : x.shape) {
    if (shape.size() < 4 && choices.one_in(4)) shape.push_back(factor());
    axes.push_back(rank_of(shape));
    shape.push_back(extent == 1 ? factor() : extent);
  }
  if (choices.one_in(2)) shape.push_back(factor());
  set(step, "shape", {shape});
  set(step, "axes", {axes});
  return true;
}

bool reshape(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  Shape shape;
  std::int64_t rest = x.size();
  if (rest == 0) {
    shape = {choices.below(3), 0};
    rest = 1;
  }
  for (std::int64_t prime : {2, 3, 5, 7}) {
    while (rest % prime == 0) {
      if (!shape.empty() && choices.one_in(2)) {
        shape.back() *= prime;
      } else {
        shape.push_back(prime);
      }
      rest /= prime;
    }
  }
  if (rest != 1) shape.push_back(rest);
  if (choices.one_in(3)) shape.insert(shape.begin() + choices.below(rank_of(shape) + 1), 1);
  set(step, "shape", {shape});
  return true;
}

bool transpose(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  set(step, "permutation", {random_permutation(x.rank(), choices)});
  return true;
}

bool slice(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  const Part part = random_part(x.shape, choices);
  set(step, "start", {part.start});
  set(step, "size", {part.size});
  set(step, "step", {part.step});
  return true;
}

bool pad(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  for (const char* name : {"low", "high", "interior"}) {
    Shape counts;
    for (std::size_t i = 0; i < x.shape.size(); ++i) {
      counts.push_back(choices.one_in(3) && x.shape.size() <= 3 ? choices.between(1, 2) : 0);
    }
    set(step, name, {counts});
  }
  step.operands = {{x}, {x.dtype[{}]}};
  return true;
}

bool concat(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  if (x.shape.empty()) return false;
  const std::int64_t axis = choices.below(x.rank());
  set(step, "axis", {axis});
  for (std::int64_t more = choices.below(3); more > 0; --more) {
    TensorType other = x;
    if (choices.one_in(2)) other.shape[static_cast<std::size_t>(axis)] = choices.below(4);
    step.operands.push_back({other});
  }
  return true;
}

bool update_slice(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  const Part part = random_part(x.shape, choices);
  set(step, "start", {part.start});
  set(step, "step", {part.step});
  set(step, "combine", {random_combine(x.dtype, {"set", "add"}, choices)});
  step.operands = {{x}, {x.dtype[part.size]}};
  return true;
}

/// Coordinates for gather and scatter, and the shape of what is there.
bool places(StepSketch& step, const TensorType& x, Choices& choices) {
  const char* const modes[] = {"check", "clip", "drop"};
  const std::string mode = modes[choices.below(3)];
  Shape axes;
  for (std::int64_t axis : random_permutation(x.rank(), choices)) {
    if ((axes.empty() || choices.one_in(3)) && x.shape.begin()[axis] > 0) axes.push_back(axis);
  }
  Shape limits;
  for (std::int64_t axis : axes) limits.push_back(x.shape.begin()[axis]);
  Shape shape;
  std::int64_t rest = 1;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) rest *= x.shape.begin()[axis];
  }
  for (std::int64_t i = choices.below(3); i > 0; --i) {
    const std::int64_t n = choices.one_in(10) ? 0 : choices.between(1, 4);
    shape.push_back(rest * n > 100 ? 1 : n);
    rest *= shape.back();
  }
  Shape taken = shape;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end())
      taken.push_back(x.shape.begin()[axis]);
  }
  shape.push_back(rank_of(axes));
  set(step, "axes", {axes});
  set(step, "mode", {mode});
  step.operands = {{x}, {index_dtype(choices)[shape], limits, mode == "check"}, {x.dtype[taken]}};
  return true;
}

bool gather(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  places(step, x, choices);
  step.operands.pop_back();
  return true;
}

bool scatter(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  set(step, "combine", {random_combine(x.dtype, {"set", "add", "mul", "min", "max"}, choices)});
  return places(step, x, choices);
}

OperandSketch window_start(StepSketch& step, const TensorType& x, const Shape& size,
                           Choices& choices) {
  const bool inside = choices.one_in(2);
  set(step, "mode", {std::string(inside ? "check" : "clip")});
  Shape limits;
  for (std::size_t i = 0; i < size.size(); ++i) limits.push_back(x.shape[i] - size[i] + 1);
  return {index_dtype(choices)[{x.rank()}], limits, inside};
}

bool dynamic_slice(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  const Shape size = random_part(x.shape, choices).size;
  set(step, "size", {size});
  step.operands = {{x}, window_start(step, x, size, choices)};
  return true;
}

bool dynamic_update_slice(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  const Shape size = random_part(x.shape, choices).size;
  set(step, "combine", {random_combine(x.dtype, {"set", "add"}, choices)});
  step.operands = {{x}, {x.dtype[size]}, window_start(step, x, size, choices)};
  return true;
}

bool select(StepSketch& step, const TensorType& x, Domain, Choices&) {
  step.operands = {{bool_[x.shape]}, {x}, {x}};
  step.data = 1;
  return true;
}

bool power(StepSketch& step, const TensorType& x, Domain, Choices&) {
  step.operands = {{x}, {x}};
  step.operands[1].is_exponent = !x.dtype.is_float();
  return true;
}

bool barrier(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  for (std::int64_t more = choices.below(3); more > 0; --more) step.operands.push_back({x});
  return true;
}

const RandomRules& rules() {
  static const RandomRules table = [] {
    RandomRules all = {
        {"constant", constant},
        {"captured", captured},
        {"iota", positions},
        {"random_bits", random_bits},
        {"convert", convert},
        {"bitcast", bitcast},
        {"broadcast_in_dim", broadcast_in_dim},
        {"reshape", reshape},
        {"transpose", transpose},
        {"slice", slice},
        {"pad", pad},
        {"concat", concat},
        {"update_slice", update_slice},
        {"gather", gather},
        {"scatter", scatter},
        {"dynamic_slice", dynamic_slice},
        {"dynamic_update_slice", dynamic_update_slice},
        {"select", select},
        {"pow", power},
        {"barrier", barrier},
    };
    all.merge(algebra_rules());
    return all;
  }();
  return table;
}

}  // namespace

std::optional<StepSketch> random_step(const Primitive& primitive, const TensorType& data,
                                      Domain domain, Choices& choices) {
  if (only_raises(primitive)) return std::nullopt;
  StepSketch step{&primitive};
  step.operands.assign(static_cast<std::size_t>(std::max(primitive.min_operands, 1)),
                       OperandSketch{data});
  const auto rule = rules().find(primitive.name);
  if (rule == rules().end()) {
    const bool elementwise =
        primitive.attributes.empty() && primitive.min_operands == primitive.max_operands;
    if (!elementwise) {
      throw Bug("tests/laws/random_step.cc and random_algebra.cc have no rule for the primitive `" +
                primitive.name + "`: add one");
    }
  } else if (!rule->second(step, data, domain, choices)) {
    return std::nullopt;
  }
  Attributes in_order;
  for (const AttributeSpec& spec : primitive.attributes)
    in_order.set(spec.name, step.attributes.get(spec.name));
  step.attributes = std::move(in_order);
  return step;
}

}  // namespace hom::laws
