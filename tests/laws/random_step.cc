// tests/laws/random_step.cc -- one random step of any primitive: attributes that type, operands to
// be found
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <hom/core/operations/broadcasting.h>
#include <hom/core/windows.h>
#include <hom/tests/laws/random_program.h>

namespace hom::laws {
namespace {

std::int64_t rank_of(const Shape& shape) { return static_cast<std::int64_t>(shape.size()); }

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

using Rule = bool (*)(StepSketch& step, const TensorType& x, Domain domain, Choices& choices);

void set(StepSketch& step, std::string_view name, Attribute value) {
  // The name that the primitive owns, so that it outlives the program.
  for (const AttributeSpec& spec : step.primitive->attributes) {
    if (spec.name == name) step.attributes.set(spec.name, std::move(value));
  }
}

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

bool reduction(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  Shape axes = random_axes(x.rank(), choices);
  if (step.primitive->name == "reduce_max" || step.primitive->name == "reduce_min") {
    axes.erase(std::remove_if(axes.begin(), axes.end(),
                              [&](std::int64_t axis) { return x.shape.begin()[axis] == 0; }),
               axes.end());
  }
  set(step, "axes", {axes});
  return true;
}

void set_windows(StepSketch& step, const std::vector<WindowAxis>& axes) {
  Shape window, stride, dilation, low, high;
  for (const WindowAxis& axis : axes) {
    window.push_back(axis.window);
    stride.push_back(axis.stride);
    dilation.push_back(axis.dilation);
    low.push_back(axis.low);
    high.push_back(axis.high);
  }
  set(step, "window", {window});
  set(step, "stride", {stride});
  set(step, "dilation", {dilation});
  set(step, "low", {low});
  set(step, "high", {high});
}

/// Windows of up to 8 elements together.
WindowAxis random_window(std::int64_t& elements, Choices& choices) {
  WindowAxis axis;
  axis.window = choices.one_in(3) ? 1 : std::min<std::int64_t>(choices.between(2, 4), 8 / elements);
  elements *= axis.window;
  axis.stride = choices.one_in(2) ? choices.between(1, 3) : axis.window;
  axis.dilation = choices.one_in(3) ? 2 : 1;
  if (choices.one_in(3)) {
    axis.low = choices.below(axis.span());
    axis.high = choices.below(axis.span());
  }
  return axis;
}

/// Windows over x; where they are extremes, each has an element.
std::vector<WindowAxis> random_windows(const TensorType& x, bool not_empty, Choices& choices) {
  std::vector<WindowAxis> axes;
  std::int64_t elements = 1;
  for (std::int64_t n : x.shape) {
    std::int64_t so_far = elements;
    WindowAxis axis = random_window(so_far, choices);
    axis.extent = n;
    const bool refused =
        (axis.count() == 0 && !choices.one_in(6)) || (not_empty && axis.empty_window() >= 0);
    if (refused) {
      axis = WindowAxis{.extent = n};
      so_far = elements;
    }
    elements = so_far;
    axes.push_back(axis);
  }
  return axes;
}

TensorType windows_of(const TensorType& x, const std::vector<WindowAxis>& axes) {
  TensorType y = x;
  for (std::size_t i = 0; i < axes.size(); ++i) y.shape[i] = axes[i].count();
  return y;
}

bool windows(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  const std::string& name = step.primitive->name;
  const bool extreme = name == "window_max" || name == "window_min";
  const std::vector<WindowAxis> axes = random_windows(x, extreme, choices);
  set_windows(step, axes);
  if (name == "window_select_sum") step.operands = {{x}, {windows_of(x, axes)}, {x}};
  if (name == "window_select_spread")
    step.operands = {{x}, {windows_of(x, axes)}, {windows_of(x, axes)}};
  return true;
}

/// The data are the windows: what they slide over is to be found.
bool spread(StepSketch& step, const TensorType& y, Domain, Choices& choices) {
  std::vector<WindowAxis> axes;
  Shape shape;
  std::int64_t elements = 1;
  for (std::int64_t count : y.shape) {
    std::int64_t so_far = elements;
    WindowAxis axis = random_window(so_far, choices);
    axis.extent =
        (count - 1) * axis.stride + axis.span() - axis.low - axis.high + choices.below(axis.stride);
    if (count == 0 || axis.extent < 0 || axis.count() != count) {
      axis = WindowAxis{.extent = count};
      so_far = elements;
    }
    elements = so_far;
    axes.push_back(axis);
    shape.push_back(axis.extent);
  }
  set_windows(step, axes);
  set(step, "shape", {shape});
  return true;
}

bool along_axis(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  if (x.shape.empty()) return false;
  const std::int64_t axis = choices.below(x.rank());
  set(step, "axis", {axis});
  set(step, "reverse", {choices.one_in(2)});
  const bool extreme = step.primitive->name.starts_with("arg");
  return !extreme || x.shape.begin()[axis] > 0;
}

bool polygamma(StepSketch& step, const TensorType&, Domain, Choices& choices) {
  set(step, "n", {choices.below(4)});
  return true;
}

bool log_gamma_slope(StepSketch& step, const TensorType&, Domain, Choices& choices) {
  set(step, "k", {choices.between(1, 3)});
  return true;
}

bool sort(StepSketch& step, const TensorType& x, Domain domain, Choices& choices) {
  if (x.shape.empty()) return false;
  set(step, "axis", {choices.below(x.rank())});
  set(step, "descending", {choices.one_in(2)});
  const DtypeSet moved = domain == Domain::smooth ? DtypeSet{bool_, i64, f64} : every_dtype;
  for (std::int64_t more = choices.below(3); more > 0; --more)
    step.operands.push_back({random_dtype(moved, choices)[x.shape]});
  return true;
}

bool fft(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  if (x.shape.empty()) return false;
  set(step, "axis", {choices.below(x.rank())});
  set(step, "inverse", {choices.one_in(2)});
  step.operands = {{x}, {x}};
  return true;
}

bool dot_general(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  Shape lhs_batch;
  Shape lhs_contract;
  Shape other;
  std::int64_t size = 1;
  for (std::int64_t axis : random_permutation(x.rank(), choices)) {
    const std::int64_t kind = choices.below(3);
    if (kind == 0) continue;
    (kind == 1 ? lhs_batch : lhs_contract).push_back(axis);
  }
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    if (std::find(lhs_contract.begin(), lhs_contract.end(), axis) == lhs_contract.end())
      size *= x.shape.begin()[axis];
  }
  for (std::int64_t axis : lhs_batch) other.push_back(x.shape.begin()[axis]);
  for (std::int64_t axis : lhs_contract) other.push_back(x.shape.begin()[axis]);
  for (std::int64_t more = choices.below(2); more > 0 && other.size() < 5; --more) {
    other.push_back(size > 50 ? 1 : choices.between(1, 3));
  }
  // Its axes come in any order: axis i of the rhs is axis order[i] of the list.
  const Shape order = random_permutation(rank_of(other), choices);
  Shape shape;
  for (std::int64_t i : order) shape.push_back(other.begin()[i]);
  const auto place = [&](std::size_t position) {
    return static_cast<std::int64_t>(
        std::find(order.begin(), order.end(), static_cast<std::int64_t>(position)) - order.begin());
  };
  Shape rhs_batch;
  Shape rhs_contract;
  for (std::size_t i = 0; i < lhs_batch.size(); ++i) rhs_batch.push_back(place(i));
  for (std::size_t i = 0; i < lhs_contract.size(); ++i)
    rhs_contract.push_back(place(lhs_batch.size() + i));
  set(step, "lhs_contract", {lhs_contract});
  set(step, "rhs_contract", {rhs_contract});
  set(step, "lhs_batch", {lhs_batch});
  set(step, "rhs_batch", {rhs_batch});
  step.operands = {{x}, {x.dtype[shape]}};
  return true;
}

/// The data are x: a kernel of up to 8 places is to be found.
bool conv_general(StepSketch& step, const TensorType& x, Domain, Choices& choices) {
  if (x.rank() < 2) return false;
  std::vector<std::int64_t> divisors;
  for (std::int64_t g = 1; g <= 4; ++g) {
    if (x.shape.back() % g == 0) divisors.push_back(g);
  }
  const std::int64_t groups = choices.among(divisors);
  Shape stride, low, high, lhs_dilation, rhs_dilation;
  Shape kernel;
  std::int64_t places = 1;
  for (std::size_t i = 1; i + 1 < x.shape.size(); ++i) {
    const std::int64_t n = x.shape[i];
    const std::int64_t size =
        choices.one_in(3) ? 1 : std::min<std::int64_t>(choices.between(2, 3), 8 / places);
    places *= size;
    kernel.push_back(size);
    stride.push_back(choices.one_in(2) ? 1 : choices.between(1, 3));
    lhs_dilation.push_back(choices.one_in(3) ? 2 : 1);
    rhs_dilation.push_back(choices.one_in(3) ? 2 : 1);
    low.push_back(choices.one_in(2) ? 0 : choices.between(-1, 2));
    high.push_back(choices.one_in(2) ? 0 : choices.between(-1, 2));
    if (n == 0) low.back() = high.back() = 0;
  }
  kernel.push_back(x.shape.back() / groups);
  kernel.push_back(groups * (choices.one_in(8) ? 0 : choices.between(1, 2)));
  set(step, "stride", {stride});
  set(step, "low", {low});
  set(step, "high", {high});
  set(step, "lhs_dilation", {lhs_dilation});
  set(step, "rhs_dilation", {rhs_dilation});
  set(step, "groups", {groups});
  step.operands = {{x}, {x.dtype[kernel]}};
  return true;
}

/// The last two axes are a matrix, or a square one.
bool any_matrix(StepSketch& step, const TensorType& x, Domain domain, Choices& choices) {
  // Far from any singular value, where these are.
  set(step, "cutoff", {domain != Domain::smooth && choices.one_in(2) ? 0.1 : 1e-6});
  return x.rank() >= 2;
}

bool square_matrix(StepSketch&, const TensorType& x, Domain, Choices&) {
  return x.rank() >= 2 && x.shape.back() == x.shape[x.shape.size() - 2];
}

bool linear_system(StepSketch& step, const TensorType& x, Domain domain, Choices& choices) {
  if (!square_matrix(step, x, domain, choices)) return false;
  for (const char* name : {"lower", "transposed", "unit"}) set(step, name, {choices.one_in(2)});
  TensorType right = x;
  right.shape.back() = choices.one_in(6) ? 0 : choices.between(1, 3);
  step.operands = {{x}, {right}};
  if (step.primitive->name != "lu_solve") return true;
  Shape places = x.shape;
  places.pop_back();
  step.operands = {{x}, {x}, {i64[places], {x.shape.back()}, choices.one_in(2)}, {right}};
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

const std::map<std::string_view, Rule>& rules() {
  static const std::map<std::string_view, Rule> table = {
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
      {"reduce_sum", reduction},
      {"reduce_prod", reduction},
      {"reduce_max", reduction},
      {"reduce_min", reduction},
      {"reduce_and", reduction},
      {"reduce_or", reduction},
      {"argmax", along_axis},
      {"argmin", along_axis},
      {"cumsum", along_axis},
      {"cumprod", along_axis},
      {"cummax", along_axis},
      {"cummin", along_axis},
      {"window_sum", windows},
      {"window_max", windows},
      {"window_min", windows},
      {"window_select_sum", windows},
      {"window_select_spread", windows},
      {"window_spread", spread},
      {"dot_general", dot_general},
      {"conv_general", conv_general},
      {"fft", fft},
      {"log_gamma_slope", log_gamma_slope},
      {"polygamma", polygamma},
      {"sort", sort},
      {"cholesky", square_matrix},
      {"triangular_solve", linear_system},
      {"lu", any_matrix},
      {"lu_solve", linear_system},
      {"qr", any_matrix},
      {"eigh", square_matrix},
      {"svd", any_matrix},
      {"determinant", square_matrix},
      {"cofactor", square_matrix},
      {"pinv", any_matrix},
      {"select", select},
      {"pow", power},
      {"barrier", barrier},
  };
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
      throw Bug("tests/laws/random_step.cc has no rule for the primitive `" + primitive.name +
                "`: add one");
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
