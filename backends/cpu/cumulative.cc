// backends/cpu/cumulative.cc -- walks along one axis: `cumsum` … `cummin`, `argmax`, `argmin`
#include <algorithm>
#include <cmath>

#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/place_of_extreme.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {
namespace {

/// Sequences that are walked side by side, so that rows in memory are read as rows.
constexpr std::int64_t columns = 64;

/// Sums are carried in f64 for the narrower floats; for f64 with the error of each addition, by
/// Neumaier's summation (ZAMM 54, 1974). Integers wrap.
template <class T>
class RunningSum {
 public:
  using Carry = std::conditional_t<scalar::Float<scalar::Compute<T>>, double, T>;

  T next(T term) {
    const Carry x = static_cast<Carry>(scalar::load(term));
    if constexpr (!std::same_as<T, double>) {
      sum_ = scalar::Add{}(sum_, x);
      return convert_element<T>(sum_);
    } else {
      const double total = sum_ + x;
      error_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - total) + x : (x - total) + sum_;
      sum_ = total;
      // An infinite or NaN total has no meaningful error.
      return scalar::IsFinite{}(total) ? total + error_ : total;
    }
  }

 private:
  Carry sum_{0};
  Carry error_{0};
};

template <class T>
class RunningProduct {
 public:
  using Carry = typename RunningSum<T>::Carry;

  T next(T term) {
    product_ = scalar::Mul{}(product_, static_cast<Carry>(scalar::load(term)));
    return convert_element<T>(product_);
  }

 private:
  Carry product_{1};
};

template <class F, class T>
class RunningExtreme {
 public:
  T next(T term) {
    extreme_ = is_first_ ? scalar::load(term) : F{}(extreme_, scalar::load(term));
    is_first_ = false;
    return static_cast<T>(extreme_);
  }

 private:
  scalar::Compute<T> extreme_{};
  bool is_first_ = true;
};
template <class T>
using RunningMax = RunningExtreme<scalar::Max, T>;
template <class T>
using RunningMin = RunningExtreme<scalar::Min, T>;

/// An axis to walk along, and the other axes; strides in the operand and in the result. The
/// result's stride along the axis is 0 where only the last value stays.
struct Nest {
  std::int64_t extent;
  std::array<std::int64_t, 2> strides;
  AxisList<2> others;
};

using Walk = void (*)(const Nest& nest, const std::byte* x, std::byte* to);

template <template <class> class State, class T>
void walk(const Nest& nest, const std::byte* x, std::byte* to) {
  using Out = decltype(State<T>{}.next(T{}));
  const Axis<2> row = nest.others.empty() ? Axis<2>{1, {0, 0}} : nest.others[0];
  for_each_offset(nest.others, 1, [&](const std::array<std::int64_t, 2>& offsets) {
    for (std::int64_t first = 0; first < row.extent; first += columns) {
      const std::int64_t width = std::min(columns, row.extent - first);
      const T* from = reinterpret_cast<const T*>(x) + offsets[0] + first * row.strides[0];
      Out* result = reinterpret_cast<Out*>(to) + offsets[1] + first * row.strides[1];
      State<T> states[columns] = {};
      for (std::int64_t i = 0; i < nest.extent; ++i) {
        const T* terms = from + i * nest.strides[0];
        Out* results = result + i * nest.strides[1];
        for (std::int64_t c = 0; c < width; ++c)
          results[c * row.strides[1]] = states[c].next(terms[c * row.strides[0]]);
      }
    }
  });
}

template <template <class> class State, bool takes_bool>
constexpr PerDtype<Walk> walks = per_dtype<Walk>([]<class T>() -> Walk {
  if constexpr (takes_bool || scalar::Number<scalar::Compute<T>>) {
    return &walk<State, T>;
  } else {
    return nullptr;
  }
});

/// Like `x` without one axis.
template <class List>
Shape without(const List& list, std::size_t axis) {
  Shape rest(list.begin(), list.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  return rest;
}

template <template <class> class State>
TensorList cumulative_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  const Walk run = entry_for(walks<State, false>, x.type.dtype, step);
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  auto result = Array::allocate(step.result_types[0]);
  if (result->type.size() == 0) return list_of(std::move(result));
  const Shape from = without(x.strides, axis);
  const Shape to = without(result->strides, axis);
  Nest nest{x.type.shape[axis],
            {x.strides[axis], result->strides[axis]},
            merge_axes<2>(without(x.type.shape, axis), {&from, &to})};
  std::array<std::int64_t, 2> start{0, 0};
  if (step.attributes.boolean("reverse")) {
    for (std::size_t k = 0; k < 2; ++k) {
      start[k] = (nest.extent - 1) * nest.strides[k];
      nest.strides[k] = -nest.strides[k];
    }
  }
  const auto size = static_cast<std::int64_t>(x.type.dtype.size());
  run(nest, first_byte(x) + start[0] * size, first_byte(*result) + start[1] * size);
  return list_of(std::move(result));
}

template <template <class> class State>
TensorList place_kernel(const Invocation& step, TensorList operands) {
  const Array& x = array_of(operands[0]);
  const Walk run = entry_for(walks<State, true>, x.type.dtype, step);
  const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
  auto result = Array::allocate(step.result_types[0]);
  if (result->type.size() == 0) return list_of(std::move(result));
  const Shape from = without(x.strides, axis);
  const Nest nest{x.type.shape[axis],
                  {x.strides[axis], 0},
                  merge_axes<2>(result->type.shape, {&from, &result->strides})};
  run(nest, first_byte(x), first_byte(*result));
  return list_of(std::move(result));
}

}  // namespace

void add_cumulative_kernels(KernelTable& table) {
  table.add("cumsum", cumulative_kernel<RunningSum>);
  table.add("cumprod", cumulative_kernel<RunningProduct>);
  table.add("cummax", cumulative_kernel<RunningMax>);
  table.add("cummin", cumulative_kernel<RunningMin>);
  table.add("argmax", place_kernel<PlaceOfMax>);
  table.add("argmin", place_kernel<PlaceOfMin>);
}

}  // namespace hom::cpu
