// tests/laws/random_algebra.cc -- random steps of what sums over axes: reductions, windows,
// products, convolutions, spectra, sorting, factorizations
#include <algorithm>
#include <vector>

#include <hom/core/windows.h>
#include <hom/tests/laws/random_rules.h>

namespace hom::laws {
namespace {

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

}  // namespace

RandomRules algebra_rules() {
  return {
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
  };
}

}  // namespace hom::laws
