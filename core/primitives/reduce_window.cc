// core/primitives/reduce_window.cc -- sums and extremes over sliding windows, and what their
// derivatives are made of
//
// Sums and their transposes come in pairs, so that each is linear work in what it reads and writes:
//
//     window_sum           y[o] = Σ x[p]                     over the p in window o
//     window_spread        x[p] = Σ y[o]                     over the windows o that hold p
//     window_select_sum    z[o] = Σ t[p] where x[p] = y[o]   over the p in window o
//     window_select_spread t[p] = Σ z[o] where x[p] = y[o]   over the windows o that hold p
//
// For extremes y of x the selection is the ties, and select_sum of ones counts them. No window is
// ever written out, however far windows overlap.
#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/rules.h>
#include <hom/core/windows.h>

namespace hom {
namespace {

using Kind = AttributeSpec::Kind;

constexpr const char* window_lists[] = {"window", "stride", "dilation", "low", "high"};

/// The windows along each axis of a tensor of this type; complains about lists that do not fit it.
std::vector<WindowAxis> checked_axes(const Typing& typing, const TensorType& x) {
  const std::string& name = typing.primitive.name;
  for (const char* list : window_lists) {
    const Shape& entries = typing.attributes.shape(list);
    typing.require(entries.size() == x.shape.size(), [&] {
      return Complaint{name + ": " + list + " " + to_string(entries) +
                       " needs one entry for each axis of " + to_string(x)};
    });
    const std::int64_t least = list[0] == 'l' || list[0] == 'h' ? 0 : 1;
    typing.require(
        std::all_of(entries.begin(), entries.end(), [&](std::int64_t n) { return n >= least; }),
        [&] {
          return Complaint{name + ": " + list + " " + to_string(entries) + " has an entry below " +
                           std::to_string(least)};
        });
  }
  std::vector<WindowAxis> axes = window_axes(typing.attributes, x.shape);
  for (const WindowAxis& axis : axes) {
    std::int64_t span = 0;
    if (__builtin_mul_overflow(axis.window, axis.dilation, &span))
      typing.require(false, [&] { return Complaint{name + ": a window does not fit 64 bits"}; });
    static_cast<void>(sum_of_extents({axis.low, axis.extent, axis.high, span}));
  }
  return axes;
}

TensorType windows_type(const Typing& typing, const TensorType& x) {
  TensorType y = x;
  const std::vector<WindowAxis> axes = checked_axes(typing, x);
  for (std::size_t i = 0; i < axes.size(); ++i) y.shape[i] = axes[i].count();
  return y;
}

std::vector<TensorType> sum_type(const Typing& typing) {
  require_dtypes(typing);
  return {windows_type(typing, typing.operands[0])};
}

std::vector<TensorType> extreme_type(const Typing& typing) {
  require_dtypes(typing);
  const TensorType& x = typing.operands[0];
  const TensorType y = windows_type(typing, x);
  if (y.size() == 0) return {y};  // no window at all, whatever lies in it
  const std::vector<WindowAxis> axes = window_axes(typing.attributes, x.shape);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t empty = axes[i].empty_window();
    typing.require(empty < 0, [&] {
      return Complaint{typing.primitive.name + ": window " + std::to_string(empty) +
                           " along axis " + std::to_string(i) + " of " + to_string(x) +
                           " has only padding, and the extreme of no elements does not exist",
                       "pad by less than a window reaches"};
    });
  }
  return {y};
}

void require_windows(const Typing& typing, const TensorType& x, const TensorType& y) {
  const TensorType windows = windows_type(typing, x);
  typing.require(y.shape == windows.shape, [&] {
    return Complaint{typing.primitive.name + ": the windows of " + to_string(x) + " are " +
                     to_string(windows.shape) + ", not " + to_string(y.shape)};
  });
}

std::vector<TensorType> spread_type(const Typing& typing) {
  require_dtypes(typing);
  const Shape& shape = typing.attributes.shape("shape");
  typing.require(
      std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 0; }), [&] {
        return Complaint{"window_spread: shape " + to_string(shape) + " has a negative extent"};
      });
  const TensorType x = typing.operands[0].dtype[shape];
  require_windows(typing, x, typing.operands[0]);
  return {x};
}

/// The third operand is like x (select_sum) or like y (select_spread); so is the result the other.
std::vector<TensorType> select_type(const Typing& typing) {
  require_dtypes(typing);
  const TensorType& x = typing.operands[0];
  const TensorType& y = typing.operands[1];
  require_windows(typing, x, y);
  const bool sums = typing.primitive.name == "window_select_sum";
  typing.require(typing.operands[2] == (sums ? x : y), [&] {
    return Complaint{typing.primitive.name + ": the third operand is " +
                     to_string(typing.operands[2]) + ", not " + to_string(sums ? x : y)};
  });
  return {sums ? y : x};
}

/// The attributes of the windows, with the shape of x where given.
Attributes windows_of(const Attributes& attributes, const Shape* shape = nullptr) {
  Attributes windows;
  for (const char* list : window_lists) windows.set(list, attributes.get(list));
  if (shape) windows.set("shape", {*shape});
  return windows;
}

Tensor selected(const char* name, const Attributes& attributes, const Tensor& x, const Tensor& y,
                const Tensor& values) {
  return apply_one(standard_primitives().find(name), windows_of(attributes), {x, y, values},
                   Location::current());
}

/// The mean of the tangents over the ties of a window; in f32 for 16 bits, which could not count
/// many ties, nor add the tangents of as many.
std::vector<Tensor> derivative_of_extreme(const Linearizing& at) {
  const Dtype dtype = at.x[0].dtype();
  const Dtype counting = dtype.size() == 2 ? f32 : dtype;
  const Tensor x = at.x[0].astype(counting);
  const Tensor y = at.y[0].astype(counting);
  const Tensor dx = at.dx[0].astype(counting);
  const Tensor ties = selected("window_select_sum", at.attributes, x, y, ones_like(x));
  const Tensor total = selected("window_select_sum", at.attributes, x, y, dx);
  return {scale(1 / ties, total).astype(dtype)};
}

/// Which elements are selected does not vary; what is selected does.
std::vector<Tensor> derivative_of_select(const Linearizing& at) {
  if (at.dx[2].is_empty()) return {Tensor()};
  return {selected(at.primitive.name.c_str(), at.attributes, at.x[0], at.x[1], at.dx[2])};
}

void transpose_select(const Transposing& at, const char* other) {
  if (at.linear[0] || at.linear[1]) at.not_linear("what selects depends on the input");
  at.add(2, selected(other, at.attributes, at.x[0], at.x[1], at.ct[0]));
}

std::vector<Tensor> batch_windows(const Batching& at) {
  Attributes attributes = at.attributes;
  for (const char* list : window_lists) {
    const std::int64_t entry = list[0] == 'l' || list[0] == 'h' ? 0 : 1;
    attributes.set(list, {with_lanes(entry, at.attributes.shape(list))});
  }
  if (at.attributes.has("shape"))
    attributes.set("shape", {with_lanes(at.size, at.attributes.shape("shape"))});
  return applied(at, attributes, all_lifted(at));
}

Primitive on_windows(const char* name, DtypeSet dtypes, TypeRule type) {
  Primitive p{.name = name, .dtypes = dtypes, .type = std::move(type), .batch = batch_windows};
  for (const char* list : window_lists) p.attributes.push_back({list, Kind::shape});
  return p;
}

}  // namespace

void add_reduce_window_primitives(PrimitiveTable& table) {
  Primitive sum_ = on_windows("window_sum", numbers, sum_type);
  sum_.simplify = zeros_of_zeros;
  sum_.derivative = linear_in(1);
  sum_.transpose = [](const Transposing& at) {
    static const Primitive& spread = standard_primitives().find("window_spread");
    at.add(0, apply_one(spread, windows_of(at.attributes, &at.types[0].shape), {at.ct[0]}, at.at));
  };
  sum_.shapes = "s → windows of s";
  sum_.formula = "window_sum dx";
  table.add(std::move(sum_));

  Primitive spread = on_windows("window_spread", numbers, spread_type);
  spread.attributes.push_back({"shape", Kind::shape});
  spread.simplify = zeros_of_zeros;
  spread.derivative = linear_in(1);
  spread.transpose = [](const Transposing& at) {
    static const Primitive& sum = standard_primitives().find("window_sum");
    at.add(0, apply_one(sum, windows_of(at.attributes), {at.ct[0]}, at.at));
  };
  spread.shapes = "windows of s → s";
  spread.formula = "window_spread dx";
  table.add(std::move(spread));

  for (const char* name : {"window_max", "window_min"}) {
    Primitive extreme = on_windows(name, numbers, extreme_type);
    extreme.derivative = derivative_of_extreme;
    extreme.shapes = "s → windows of s";
    extreme.formula = "mean of dx over the ties of a window";
    extreme.cost_factor = 20;
    table.add(std::move(extreme));
  }

  Primitive select_sum = on_windows("window_select_sum", floats, select_type);
  select_sum.min_operands = select_sum.max_operands = 3;
  select_sum.derivative = derivative_of_select;
  select_sum.transpose = [](const Transposing& at) {
    transpose_select(at, "window_select_spread");
  };
  select_sum.shapes = "s, windows of s, s → windows of s";
  select_sum.formula = "window_select_sum(x, y, dt)";
  table.add(std::move(select_sum));

  Primitive select_spread = on_windows("window_select_spread", floats, select_type);
  select_spread.min_operands = select_spread.max_operands = 3;
  select_spread.derivative = derivative_of_select;
  select_spread.transpose = [](const Transposing& at) {
    transpose_select(at, "window_select_sum");
  };
  select_spread.shapes = "s, windows of s, windows of s → s";
  select_spread.formula = "window_select_spread(x, y, dt)";
  table.add(std::move(select_spread));
}

}  // namespace hom
