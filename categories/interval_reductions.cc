// categories/interval_reductions.cc -- rules for reductions, running reductions and contractions
#include <algorithm>
#include <cmath>
#include <limits>

#include <hom/categories/interval_rule.h>
#include <hom/core/axes.h>
#include <hom/core/windows.h>

namespace hom::categories {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using Group = std::vector<std::size_t>;

/// The numbers of the elements of a tensor, one list for each choice of the coordinates along
/// `outer`, in row-major order along `inner`.
std::vector<Group> groups(const Shape& shape, const Shape& outer, const Shape& inner) {
  const Shape strides = row_major_strides(shape);
  const auto offsets = [&](const Shape& axes) {
    std::vector<std::size_t> list{0};
    for (std::int64_t axis : axes) {
      const auto i = static_cast<std::size_t>(axis);
      std::vector<std::size_t> longer;
      for (std::size_t offset : list) {
        for (std::int64_t k = 0; k < shape[i]; ++k)
          longer.push_back(offset + static_cast<std::size_t>(k * strides[i]));
      }
      list = std::move(longer);
    }
    return list;
  };
  const std::vector<std::size_t> along = offsets(inner);
  std::vector<Group> all;
  for (std::size_t start : offsets(outer)) {
    Group group;
    for (std::size_t offset : along) group.push_back(start + offset);
    all.push_back(std::move(group));
  }
  return all;
}

/// Combines intervals of one dtype from left to right.
using Fold = Interval (*)(Dtype dtype, std::span<const Interval> terms);

Interval sum_of(Dtype dtype, std::span<const Interval> terms) {
  const IntervalArithmetic arithmetic(dtype.is_float() ? dtype : f64);
  if (dtype.is_float() && terms.size() == 1) return terms[0];
  if (dtype.is_float() && terms.size() == 2) return arithmetic.add(terms[0], terms[1]);
  if (!dtype.is_float()) {
    Interval total{0, 0, false};
    for (const Interval& term : terms) total = arithmetic.add(total, term);
    return wrapped(total, dtype);
  }
  IntervalArithmetic::Sum total(arithmetic);
  for (const Interval& term : terms) total.add(term);
  return total.result();
}

/// Bounds of products in any order: those of f64, and u for each rounding.
Interval product_of(Dtype dtype, std::span<const Interval> terms) {
  Interval total{1, 1, false};
  for (const Interval& term : terms) total = IntervalArithmetic(f64).mul(total, term);
  if (!dtype.is_float()) return wrapped(total, dtype);
  if (terms.size() < 2) return total;
  const double u = dtype == f64   ? 0x1p-52
                   : dtype == f32 ? 0x1p-23
                   : dtype == f16 ? 0x1p-10
                                  : 0x1p-7;
  const double relative = static_cast<double>(terms.size()) * u;
  const double size = std::max(std::abs(total.lo), std::abs(total.hi));
  // Partial products may overflow, or underflow and be multiplied up again.
  double largest_factor = 1;
  double partial = 1;
  for (const Interval& term : terms) {
    const double factor = std::max(std::abs(term.lo), std::abs(term.hi));
    largest_factor *= std::max(1.0, factor);
    partial *= std::max(1.0, factor);
  }
  const bool overflows = total.is_empty() ||
                         !(partial * 2 < (dtype == f64   ? 0x1p1023
                                          : dtype == f16 ? 65504.0
                                                         : 0x1p127)) ||
                         relative > 0.25;
  if (overflows) return anything(dtype);
  const double error = size * relative * 2 + static_cast<double>(terms.size()) * largest_factor *
                                                 (dtype == f64   ? 0x1p-1074
                                                  : dtype == f16 ? 0x1p-24
                                                                 : 0x1p-133);
  return IntervalArithmetic(dtype).outward(std::nextafter(total.lo - error, -inf),
                                           std::nextafter(total.hi + error, inf), total.may_be_nan);
}

Interval largest(Dtype, std::span<const Interval> terms) {
  Interval result = terms[0];
  for (const Interval& term : terms) result = IntervalArithmetic(f64).max(result, term);
  return result;
}

Interval smallest(Dtype, std::span<const Interval> terms) {
  Interval result = terms[0];
  for (const Interval& term : terms) result = IntervalArithmetic(f64).min(result, term);
  return result;
}

Interval all_true(Dtype, std::span<const Interval> terms) {
  Interval result{1, 1, false};
  for (const Interval& term : terms)
    result = {std::min(result.lo, term.lo), std::min(result.hi, term.hi), false};
  return result;
}

Interval any_true(Dtype, std::span<const Interval> terms) {
  Interval result{0, 0, false};
  for (const Interval& term : terms)
    result = {std::max(result.lo, term.lo), std::max(result.hi, term.hi), false};
  return result;
}

IntervalRule reduced(Fold fold) {
  return [fold](const Operation& operation, std::span<const IntervalTensor> x) {
    const Shape& shape = x[0].type().shape;
    const Shape& axes = operation.attributes.shape("axes");
    std::vector<Interval> elements;
    for (const Group& group : groups(shape, axes_without(shape.size(), axes), axes)) {
      std::vector<Interval> terms;
      for (std::size_t i : group) terms.push_back(x[0].elements()[i]);
      elements.push_back(fold(x[0].type().dtype, terms));
    }
    return IntervalTensor(operation.results[0], std::move(elements));
  };
}

IntervalRule running(Fold fold) {
  return [fold](const Operation& operation, std::span<const IntervalTensor> x) {
    const Shape& shape = x[0].type().shape;
    const Shape axes{operation.attributes.integer("axis")};
    std::vector<Interval> elements(x[0].elements().size());
    for (Group& group : groups(shape, axes_without(shape.size(), axes), axes)) {
      if (operation.attributes.boolean("reverse")) std::reverse(group.begin(), group.end());
      std::vector<Interval> terms;
      for (std::size_t i : group) {
        terms.push_back(x[0].elements()[i]);
        elements[i] = fold(x[0].type().dtype, terms);
      }
    }
    return IntervalTensor(operation.results[0], std::move(elements));
  };
}

/// Sums and extremes of the elements of each window.
IntervalRule over_windows(Fold fold) {
  return [fold](const Operation& operation, std::span<const IntervalTensor> x) {
    const TensorType& type = x[0].type();
    std::vector<Interval> elements;
    for (const Group& window : window_elements(window_axes(operation.attributes, type.shape))) {
      std::vector<Interval> terms;
      for (std::size_t i : window) terms.push_back(x[0].elements()[i]);
      elements.push_back(fold(type.dtype, terms));
    }
    return IntervalTensor(operation.results[0], std::move(elements));
  };
}

/// To each element, the windows that hold it.
std::vector<Group> windows_of_elements(const std::vector<Group>& windows, std::int64_t elements) {
  std::vector<Group> holders(static_cast<std::size_t>(elements));
  for (std::size_t o = 0; o < windows.size(); ++o) {
    for (std::size_t i : windows[o]) holders[i].push_back(o);
  }
  return holders;
}

IntervalTensor spread_windows(const Operation& operation, std::span<const IntervalTensor> y) {
  const TensorType& type = operation.results[0];
  const std::vector<Group> windows = window_elements(window_axes(operation.attributes, type.shape));
  std::vector<Interval> elements;
  for (const Group& holders : windows_of_elements(windows, type.size())) {
    std::vector<Interval> terms;
    for (std::size_t o : holders) terms.push_back(y[0].elements()[o]);
    elements.push_back(sum_of(type.dtype, terms));
  }
  return {type, std::move(elements)};
}

/// What is added if two elements are equal (NaN equals NaN): it, 0, or either.
Interval where_equal(const Interval& a, const Interval& b, const Interval& value) {
  const bool may_be = (!a.is_empty() && !b.is_empty() && a.lo <= b.hi && b.lo <= a.hi) ||
                      (a.may_be_nan && b.may_be_nan);
  if (!may_be) return {0, 0, false};
  return a.is_point() && b.is_point() ? value : hull(value, {0, 0, false});
}

IntervalTensor select_sum(const Operation& operation, std::span<const IntervalTensor> x) {
  const TensorType& type = x[0].type();
  const std::vector<Group> windows = window_elements(window_axes(operation.attributes, type.shape));
  std::vector<Interval> elements;
  for (std::size_t o = 0; o < windows.size(); ++o) {
    std::vector<Interval> terms;
    for (std::size_t i : windows[o]) {
      terms.push_back(where_equal(x[0].elements()[i], x[1].elements()[o], x[2].elements()[i]));
    }
    elements.push_back(sum_of(type.dtype, terms));
  }
  return {operation.results[0], std::move(elements)};
}

IntervalTensor select_spread(const Operation& operation, std::span<const IntervalTensor> x) {
  const TensorType& type = x[0].type();
  const std::vector<Group> holders = windows_of_elements(
      window_elements(window_axes(operation.attributes, type.shape)), type.size());
  std::vector<Interval> elements;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    std::vector<Interval> terms;
    for (std::size_t o : holders[i]) {
      terms.push_back(where_equal(x[0].elements()[i], x[1].elements()[o], x[2].elements()[o]));
    }
    elements.push_back(sum_of(type.dtype, terms));
  }
  return {operation.results[0], std::move(elements)};
}

/// Some position along the axis.
IntervalTensor position(const Operation& operation, std::span<const IntervalTensor> x) {
  const auto axis = static_cast<std::size_t>(operation.attributes.integer("axis"));
  const Interval any{0, static_cast<double>(x[0].type().shape[axis] - 1), false};
  return {operation.results[0],
          std::vector<Interval>(static_cast<std::size_t>(operation.results[0].size()), any)};
}

/// Element i of a sorted slice lies between the i-th smallest of the lower ends and the i-th of the
/// upper ones. What moves along may be any element of its slice.
std::vector<IntervalTensor> sorted(const Operation& operation, std::span<const IntervalTensor> x) {
  const Shape& shape = x[0].type().shape;
  const Shape axes{operation.attributes.integer("axis")};
  const bool descending = operation.attributes.boolean("descending");
  std::vector<IntervalTensor> results;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::vector<Interval>& from = x[k].elements();
    std::vector<Interval> elements(from.size());
    for (const Group& group : groups(shape, axes_without(shape.size(), axes), axes)) {
      if (group.empty()) continue;
      Interval any = from[group.front()];
      std::vector<double> lows;
      std::vector<double> highs;
      for (std::size_t i : group) {
        any = hull(any, from[i]);
        lows.push_back(from[i].lo);
        highs.push_back(from[i].hi);
      }
      // NaN may stand anywhere among numbers that it displaces.
      const bool in_order = k == 0 && !any.may_be_nan;
      std::sort(lows.begin(), lows.end());
      std::sort(highs.begin(), highs.end());
      for (std::size_t i = 0; i < group.size(); ++i) {
        const std::size_t place = descending ? group.size() - 1 - i : i;
        elements[group[i]] = in_order ? Interval{lows[place], highs[place], false} : any;
      }
    }
    results.emplace_back(x[k].type(), std::move(elements));
  }
  return results;
}

/// Sums with the roots of unity as factors. The transform in f64 is off by a few roundings for each
/// stage, of the sum of all terms.
std::vector<IntervalTensor> fourier(const Operation& operation, std::span<const IntervalTensor> x) {
  const TensorType& type = x[0].type();
  const Shape axes{operation.attributes.integer("axis")};
  const double direction = operation.attributes.boolean("inverse") ? 1 : -1;
  const IntervalArithmetic arithmetic(type.dtype);
  std::vector<Interval> re(x[0].elements().size());
  std::vector<Interval> im = re;
  for (const Group& group : groups(type.shape, axes_without(type.shape.size(), axes), axes)) {
    const std::size_t n = group.size();
    double size = 0;
    for (std::size_t i : group) {
      for (const IntervalTensor& operand : x) {
        const Interval& term = operand.elements()[i];
        size += term.may_be_nan ? inf : std::max(std::abs(term.lo), std::abs(term.hi));
      }
    }
    const double error = size * 0x1p-47 * (1 + std::log2(static_cast<double>(n) + 1));
    for (std::size_t k = 0; k < n; ++k) {
      // What is infinite meets the opposite infinity, or 0, as NaN.
      re[group[k]] = im[group[k]] = anything(type.dtype);
      if (!(size < 0x1p1000)) continue;
      std::array<double, 4> ends{};
      const auto add = [&](const Interval& term, double factor, std::size_t result) {
        ends[2 * result] += factor * (factor < 0 ? term.hi : term.lo);
        ends[2 * result + 1] += factor * (factor < 0 ? term.lo : term.hi);
      };
      for (std::size_t j = 0; j < n; ++j) {
        const double angle = direction * 2 * std::acos(-1.0) * static_cast<double>(j * k % n) /
                             static_cast<double>(n);
        const Interval& a = x[0].elements()[group[j]];
        const Interval& b = x[1].elements()[group[j]];
        add(a, std::cos(angle), 0);
        add(b, -std::sin(angle), 0);
        add(a, std::sin(angle), 1);
        add(b, std::cos(angle), 1);
      }
      re[group[k]] = arithmetic.outward(ends[0] - error, ends[1] + error, false);
      im[group[k]] = arithmetic.outward(ends[2] - error, ends[3] + error, false);
    }
  }
  return {IntervalTensor(type, std::move(re)), IntervalTensor(type, std::move(im))};
}

IntervalTensor contraction(const Operation& operation, std::span<const IntervalTensor> x) {
  const auto part = [&](std::size_t side) {
    const Attributes& a = operation.attributes;
    const Shape& shape = x[side].type().shape;
    const Shape& contract = a.shape(side == 0 ? "lhs_contract" : "rhs_contract");
    const Shape& batch = a.shape(side == 0 ? "lhs_batch" : "rhs_batch");
    Shape used = batch;
    used.insert(used.end(), contract.begin(), contract.end());
    Shape outer = batch;
    const Shape free = axes_without(shape.size(), used);
    outer.insert(outer.end(), free.begin(), free.end());
    std::int64_t batches = 1;
    for (std::int64_t axis : batch) batches *= shape[static_cast<std::size_t>(axis)];
    return std::pair{groups(shape, outer, contract), static_cast<std::size_t>(batches)};
  };
  const auto [rows, batches] = part(0);
  const auto [columns, same_batches] = part(1);
  static_cast<void>(same_batches);
  const Dtype dtype = operation.results[0].dtype;
  const IntervalArithmetic arithmetic(dtype.is_float() ? dtype : f64);
  std::vector<Interval> elements;
  for (std::size_t b = 0; b < batches; ++b) {
    for (std::size_t i = b * rows.size() / batches; i < (b + 1) * rows.size() / batches; ++i) {
      for (std::size_t j = b * columns.size() / batches; j < (b + 1) * columns.size() / batches;
           ++j) {
        IntervalArithmetic::Sum total(arithmetic);
        for (std::size_t k = 0; k < rows[i].size(); ++k)
          total.add_product(x[0].elements()[rows[i][k]], x[1].elements()[columns[j][k]]);
        const Interval result = total.result();
        elements.push_back(
            dtype.is_float()
                ? result
                : wrapped({std::floor(result.lo), std::ceil(result.hi), false}, dtype));
      }
    }
  }
  return {operation.results[0], std::move(elements)};
}

/// Σ over the places of the kernel and the channels of the group; padding is terms of 0.
IntervalTensor convolution(const Operation& operation, std::span<const IntervalTensor> x) {
  const Shape& shape = x[0].type().shape;
  const Shape& kernel = x[1].type().shape;
  const TensorType& type = operation.results[0];
  const std::vector<ConvolutionAxis> axes = convolution_axes(operation.attributes, shape, kernel);
  const IntervalArithmetic arithmetic(type.dtype.is_float() ? type.dtype : f64);
  const std::int64_t in = kernel[kernel.size() - 2];
  const std::int64_t channels = type.shape.back();
  const std::int64_t out = channels / operation.attributes.integer("groups");
  std::int64_t outputs = 1;
  std::int64_t places = 1;
  for (const ConvolutionAxis& axis : axes) {
    outputs *= axis.count();
    places *= axis.kernel;
  }
  std::vector<Interval> elements;
  for (std::int64_t e = 0; e < type.size(); ++e) {
    const std::int64_t channel = e % channels;
    IntervalArithmetic::Sum total(arithmetic);
    for (std::int64_t k = 0; k < places; ++k) {
      // The place of x from the last axis to the first, or what is there instead.
      std::int64_t o = e / channels % outputs;
      std::int64_t rest = k;
      std::int64_t element = 0;
      std::int64_t step = 1;
      bool is_gap = false;
      bool is_padding = false;
      for (std::size_t i = axes.size(); i-- > 0;) {
        const std::int64_t along = axes[i].element(o % axes[i].count(), rest % axes[i].kernel);
        o /= axes[i].count();
        rest /= axes[i].kernel;
        is_gap = is_gap || along == -1;
        is_padding = is_padding || along == -2;
        element += along * step;
        step *= axes[i].extent;
      }
      if (is_gap) continue;
      element += e / channels / outputs * step;
      for (std::int64_t c = 0; c < in; ++c) {
        const Interval& weight =
            x[1].elements()[static_cast<std::size_t>((k * in + c) * channels + channel)];
        const auto own = static_cast<std::size_t>(element * shape.back() + channel / out * in + c);
        total.add_product(is_padding ? Interval{0, 0, false} : x[0].elements()[own], weight);
      }
    }
    const Interval result = total.result();
    elements.push_back(
        type.dtype.is_float()
            ? result
            : wrapped({std::floor(result.lo), std::ceil(result.hi), false}, type.dtype));
  }
  return {type, std::move(elements)};
}

}  // namespace

void add_reduction_intervals(IntervalRules& rules) {
  rules["reduce_sum"] = reduced(sum_of);
  rules["reduce_prod"] = reduced(product_of);
  rules["reduce_max"] = reduced(largest);
  rules["reduce_min"] = reduced(smallest);
  rules["reduce_and"] = reduced(all_true);
  rules["reduce_or"] = reduced(any_true);
  rules["cumsum"] = running(sum_of);
  rules["cumprod"] = running(product_of);
  rules["cummax"] = running(largest);
  rules["cummin"] = running(smallest);
  rules["window_sum"] = over_windows(sum_of);
  rules["window_max"] = over_windows(largest);
  rules["window_min"] = over_windows(smallest);
  rules["window_spread"] = spread_windows;
  rules["window_select_sum"] = select_sum;
  rules["window_select_spread"] = select_spread;
  rules["argmax"] = position;
  rules["argmin"] = position;
  rules["dot_general"] = contraction;
  rules["conv_general"] = convolution;
  rules["fft"] = fourier;
  rules["sort"] = sorted;
}

}  // namespace hom::categories
