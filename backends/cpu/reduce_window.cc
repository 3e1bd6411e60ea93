// backends/cpu/reduce_window.cc -- `window_sum` … `window_select_spread`
//
// Each kernel adds terms into rows of its result: for every choice of terms along the outer axes,
// and of a place within the window along the last axis that windows slide along, one run along the
// row. What lies behind that axis, such as channels, goes along with it: so both layouts of images
// are walked in long runs. An element's terms come in row-major
// order of what they are read from; sums are carried in f64, and rounded once.
#include <algorithm>
#include <limits>
#include <vector>

#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>
#include <hom/core/windows.h>

namespace hom::cpu {
namespace {

/// Element result + i·result_step + j of a row gets the term at term + i·term_step + j, for i below
/// count and j below inner.
struct Run {
  std::int64_t result, result_step;
  std::int64_t term, term_step;
  std::int64_t count, inner;
};

/// visit(element of the row, term) for each of a run, in order. Each element is met once.
template <class Visit>
void for_each_pair(const Run& run, Visit&& visit) {
  if (run.inner > 1) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      const std::int64_t result = run.result + i * run.result_step;
      const std::int64_t term = run.term + i * run.term_step;
#pragma omp simd
      for (std::int64_t j = 0; j < run.inner; ++j) visit(result + j, term + j);
    }
  } else {
    for (std::int64_t i = 0; i < run.count; ++i)
      visit(run.result + i * run.result_step, run.term + i * run.term_step);
  }
}

/// An axis but the last: for each place along the result, where its terms are.
struct OuterAxis {
  std::vector<std::vector<std::int64_t>> terms;
  std::int64_t term_stride;
};

/// Which elements meet which. `gathers`: results are windows, and terms their elements; else the
/// other way about.
class WindowWalk {
 public:
  WindowWalk(std::vector<WindowAxis> axes, bool gathers) : gathers_(gathers) {
    axes = merged(std::move(axes));
    std::int64_t inner = 1;
    if (axes.size() > 1 && axes.back().is_trivial()) {
      inner = axes.back().extent;
      axes.pop_back();
    }
    std::int64_t stride = inner;
    for (std::size_t i = axes.size() - 1; i > 0; --i) {
      stride *= gathers ? axes[i].extent : axes[i].count();
      outer_.insert(outer_.begin(), outer_axis(axes[i - 1], stride));
    }
    find_runs(axes.back(), inner);
    row_ = inner * (gathers ? axes.back().count() : axes.back().extent);
  }

  std::int64_t row() const { return row_; }

  /// begin(), run(offset of terms, run)…, end(offset of the row in the result) for each row.
  template <class Row>
  void operator()(Row& row) const {
    for (const OuterAxis& axis : outer_) {
      if (axis.terms.empty()) return;
    }
    std::vector<std::size_t> place(outer_.size(), 0);
    for (std::int64_t offset = 0;; offset += row_) {
      row.begin();
      add_terms(0, 0, place, row);
      row.end(offset);
      std::size_t d = outer_.size();
      for (; d > 0; --d) {
        if (++place[d - 1] < outer_[d - 1].terms.size()) break;
        place[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }

 private:
  /// Axes that nothing slides along: those of one element left out, neighbours at the end as one.
  static std::vector<WindowAxis> merged(std::vector<WindowAxis> axes) {
    std::erase_if(axes, [](const WindowAxis& a) { return a.is_trivial() && a.extent == 1; });
    while (axes.size() > 1 && axes.back().is_trivial() && axes[axes.size() - 2].is_trivial()) {
      const std::int64_t extent = axes.back().extent;
      axes.pop_back();
      axes.back().extent *= extent;
    }
    if (axes.empty()) axes.emplace_back();
    return axes;
  }

  OuterAxis outer_axis(const WindowAxis& axis, std::int64_t stride) const {
    OuterAxis outer{{}, stride};
    outer.terms.resize(static_cast<std::size_t>(gathers_ ? axis.count() : axis.extent));
    for (std::int64_t o = 0; o < axis.count(); ++o) {
      for (std::int64_t k = 0; k < axis.window; ++k) {
        const std::int64_t p = axis.position(o, k);
        if (!axis.contains(p)) continue;
        outer.terms[static_cast<std::size_t>(gathers_ ? o : p)].push_back(gathers_ ? p : o);
      }
    }
    return outer;
  }

  void find_runs(const WindowAxis& axis, std::int64_t inner) {
    for (std::int64_t step = 0; step < axis.window; ++step) {
      // So that the windows that hold an element come in order.
      const std::int64_t k = gathers_ ? step : axis.window - 1 - step;
      // The windows whose element k lies inside.
      const std::int64_t before = -axis.position(0, k);
      const std::int64_t first = before <= 0 ? 0 : (before + axis.stride - 1) / axis.stride;
      const std::int64_t room = axis.extent - 1 - axis.position(0, k);
      const std::int64_t last = room < 0 ? -1 : std::min(axis.count() - 1, room / axis.stride);
      if (first > last) continue;
      const std::int64_t p = axis.position(first, k);
      const std::int64_t count = last - first + 1;
      if (axis.stride == 1 || count == 1) {
        // One piece of both.
        const std::int64_t result = inner * (gathers_ ? first : p);
        const std::int64_t term = inner * (gathers_ ? p : first);
        runs_.push_back({result, 0, term, 0, 1, inner * count});
      } else if (gathers_) {
        runs_.push_back({inner * first, inner, inner * p, inner * axis.stride, count, inner});
      } else {
        runs_.push_back({inner * p, inner * axis.stride, inner * first, inner, count, inner});
      }
    }
  }

  template <class Row>
  void add_terms(std::size_t axis, std::int64_t offset, const std::vector<std::size_t>& place,
                 Row& row) const {
    if (axis == outer_.size()) {
      for (const Run& run : runs_) row.run(offset, run);
      return;
    }
    for (const std::int64_t term : outer_[axis].terms[place[axis]])
      add_terms(axis + 1, offset + term * outer_[axis].term_stride, place, row);
  }

  bool gathers_;
  std::vector<OuterAxis> outer_;
  std::vector<Run> runs_;
  std::int64_t row_ = 0;
};

/// What sums of elements stored as `T` are carried in.
template <class T, class Computed = scalar::Compute<T>>
struct SumOf {
  using type = double;
};
template <class T, scalar::Integer Computed>
struct SumOf<T, Computed> {
  using type = std::make_unsigned_t<Computed>;
};

template <class T>
class SumRow {
 public:
  using Sum = typename SumOf<T>::type;

  SumRow(std::int64_t size, const T* x, T* to)
      : sums_(static_cast<std::size_t>(size)), x_(x), to_(to) {}

  void begin() { std::fill(sums_.begin(), sums_.end(), Sum{0}); }
  void run(std::int64_t offset, const Run& run) {
    const T* const x = x_ + offset;
    Sum* const sums = sums_.data();
    for_each_pair(run, [=](std::int64_t i, std::int64_t term) {
      sums[i] = static_cast<Sum>(sums[i] + static_cast<Sum>(scalar::load(x[term])));
    });
  }
  void end(std::int64_t offset) {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      to_[offset + static_cast<std::int64_t>(i)] = static_cast<T>(sums_[i]);
  }

 private:
  std::vector<Sum> sums_;
  const T* x_;
  T* to_;
};

template <class F, class T>
class ExtremeRow {
 public:
  using Computed = scalar::Compute<T>;

  ExtremeRow(std::int64_t size, const T* x, T* to)
      : extremes_(static_cast<std::size_t>(size)), x_(x), to_(to) {}

  /// What every element beats, or ties with; padding is not even looked at.
  static constexpr Computed least() {
    using Limits = std::numeric_limits<Computed>;
    if constexpr (std::same_as<F, scalar::Max>) {
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    } else {
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    }
  }

  void begin() { std::fill(extremes_.begin(), extremes_.end(), least()); }
  void run(std::int64_t offset, const Run& run) {
    const T* const x = x_ + offset;
    Computed* const extremes = extremes_.data();
    for_each_pair(run, [=](std::int64_t i, std::int64_t term) {
      extremes[i] = F{}(extremes[i], scalar::load(x[term]));
    });
  }
  void end(std::int64_t offset) {
    for (std::size_t i = 0; i < extremes_.size(); ++i)
      to_[offset + static_cast<std::int64_t>(i)] = static_cast<T>(extremes_[i]);
  }

 private:
  std::vector<Computed> extremes_;
  const T* x_;
  T* to_;
};

/// Sums of those terms whose key is that of the result: `own` has the shape of the result, `others`
/// that of the terms. NaN is the key of NaN.
template <class T>
class SelectRow {
 public:
  SelectRow(std::int64_t size, const T* own, const T* others, const T* values, T* to)
      : sums_(static_cast<std::size_t>(size)),
        own_(own),
        others_(others),
        values_(values),
        to_(to) {}

  void begin() { std::fill(sums_.begin(), sums_.end(), 0.0); }
  void run(std::int64_t offset, const Run& run) {
    const T* const own = own_ + row_;
    const T* const others = others_ + offset;
    const T* const values = values_ + offset;
    double* const sums = sums_.data();
    for_each_pair(run, [=](std::int64_t i, std::int64_t term) {
      const auto a = scalar::load(own[i]);
      const auto b = scalar::load(others[term]);
      const bool is_same = (a == b) | ((a != a) & (b != b));
      // A sum that began with 0 is never −0, so adding 0 is adding nothing.
      const double value = static_cast<double>(scalar::load(values[term]));
      sums[i] += is_same ? value : 0.0;
    });
  }
  void end(std::int64_t offset) {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      to_[offset + static_cast<std::int64_t>(i)] = static_cast<T>(sums_[i]);
    row_ = offset + static_cast<std::int64_t>(sums_.size());
  }

 private:
  std::vector<double> sums_;
  const T* own_;
  const T* others_;
  const T* values_;
  T* to_;
  std::int64_t row_ = 0;
};

using Compute = void (*)(const WindowWalk& walk, const TensorList& operands, Array& result);

template <class T>
const T* elements(const Tensor& x) {
  return x.size() == 0 ? nullptr : x.array().data<T>();
}

template <class Row, class T>
void compute_one(const WindowWalk& walk, const TensorList& operands, Array& result) {
  Row row(walk.row(), elements<T>(operands[0]), result.data<T>());
  walk(row);
}

/// `own` is the operand that has the shape of the result: 1, the windows, or 0, the elements.
template <class T, std::size_t own>
void compute_selected(const WindowWalk& walk, const TensorList& operands, Array& result) {
  SelectRow<T> row(walk.row(), elements<T>(operands[own]), elements<T>(operands[1 - own]),
                   elements<T>(operands[2]), result.data<T>());
  walk(row);
}

/// Of `step`, whose operand or result `elements` is what windows slide over.
TensorList run_windows(const Invocation& step, TensorList operands, bool gathers,
                       const PerDtype<Compute>& table, const Shape& elements) {
  const Compute compute = entry_for(table, operands[0].dtype(), step);
  auto result = Array::allocate(step.result_types[0]);
  if (result->type.size() == 0) return list_of(std::move(result));
  for (Tensor& operand : operands) operand = row_major(operand);
  compute(WindowWalk(window_axes(step.attributes, elements), gathers), operands, *result);
  return list_of(std::move(result));
}

template <template <class> class Row>
constexpr PerDtype<Compute> one_operand = per_dtype<Compute>([]<class T>() -> Compute {
  if constexpr (scalar::Number<scalar::Compute<T>>) {
    return &compute_one<Row<T>, T>;
  } else {
    return nullptr;
  }
});
template <std::size_t own>
constexpr PerDtype<Compute> selecting = per_dtype<Compute>([]<class T>() -> Compute {
  if constexpr (scalar::Float<scalar::Compute<T>>) {
    return &compute_selected<T, own>;
  } else {
    return nullptr;
  }
});

template <class T>
using MaxRow = ExtremeRow<scalar::Max, T>;
template <class T>
using MinRow = ExtremeRow<scalar::Min, T>;

template <template <class> class Row>
TensorList gathering_kernel(const Invocation& step, TensorList operands) {
  const Shape shape = operands[0].shape();
  return run_windows(step, std::move(operands), true, one_operand<Row>, shape);
}

TensorList spread_kernel(const Invocation& step, TensorList operands) {
  return run_windows(step, std::move(operands), false, one_operand<SumRow>,
                     step.result_types[0].shape);
}

TensorList select_sum_kernel(const Invocation& step, TensorList operands) {
  const Shape shape = operands[0].shape();
  return run_windows(step, std::move(operands), true, selecting<1>, shape);
}

TensorList select_spread_kernel(const Invocation& step, TensorList operands) {
  const Shape shape = operands[0].shape();
  return run_windows(step, std::move(operands), false, selecting<0>, shape);
}

}  // namespace

void add_reduce_window_kernels(KernelTable& table) {
  table.add("window_sum", gathering_kernel<SumRow>);
  table.add("window_max", gathering_kernel<MaxRow>);
  table.add("window_min", gathering_kernel<MinRow>);
  table.add("window_spread", spread_kernel);
  table.add("window_select_sum", select_sum_kernel);
  table.add("window_select_spread", select_spread_kernel);
}

}  // namespace hom::cpu
