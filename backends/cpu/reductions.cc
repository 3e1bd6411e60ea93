// backends/cpu/reductions.cc -- `reduce_sum`, `reduce_prod`, `reduce_max` … `reduce_or`
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/identities.h>
#include <hom/backends/cpu/ordered_sum.h>
#include <hom/backends/cpu/registration.h>
#include <hom/backends/cpu/shared_rows.h>

namespace hom::cpu {
namespace {

/// Columns that are reduced side by side where rows lie in memory.
constexpr std::int64_t columns = 32;

/// The axes of the operand, apart: those that stay (strides in the operand and the result), and
/// those that go.
struct Nest {
  AxisList<2> kept;
  AxisList<1> reduced;
};

/// Rows lie in memory: walks all terms of up to `columns` neighbouring results together.
template <class F, class T>
void reduce_columns(const Nest& nest, scalar::Compute<T> identity, const T* x, T* to,
                    std::int64_t low, std::int64_t high) {
  OrderedReduction<F, T, columns> reduction(identity);
  const auto strides = nest.kept[0].strides;
  for_each_offset(nest.kept, 1, [&](const std::array<std::int64_t, 2>& offsets) {
    for (std::int64_t first = low; first < high; first += columns) {
      const std::int64_t width = std::min(columns, high - first);
      const T* column = x + offsets[0] + first * strides[0];
      for_each_offset(nest.reduced, 0, [&](const std::array<std::int64_t, 1>& term) {
        reduction.add_term(column + term[0], strides[0], width);
      });
      reduction.finish(to + offsets[1] + first * strides[1], width);
    }
  });
}

/// All terms as one, in blocks: their results are digits of the same counter.
template <class F, class T>
bool reduce_blocks(const Nest& nest, scalar::Compute<T> identity, const T* x, T* to) {
  using Computed = scalar::Compute<T>;
  if (!nest.kept.empty() || nest.reduced.size() != 1 || !std::is_same_v<T, Computed>) return false;
  const auto [extent, strides] = nest.reduced[0];
  std::int64_t block = OrderedReduction<F, T, 1>::chunk;
  const std::int64_t grain = shared_grain(extent, 1, block);
  if (grain == 0) return false;
  while (block < grain) block *= 2;
  const std::int64_t blocks = (extent + block - 1) / block;
  const auto totals = std::make_unique<T[]>(static_cast<std::size_t>(blocks));
  parallel_ranges(extent, block, [&, stride = strides[0]](std::int64_t low, std::int64_t high) {
    OrderedReduction<F, T, 1> reduction(identity);
    reduction.add_run(x + low * stride, stride, high - low);
    reduction.finish(&totals[static_cast<std::size_t>(low / block)], 1);
  });
  PairwiseReduction<F, T> all(identity);
  for (std::int64_t i = 0; i < blocks; ++i) all.add(totals[i]);
  *to = all.finish();
  return true;
}

/// Walks the terms of one result after the other.
template <class F, class T>
void reduce_each(const Nest& nest, scalar::Compute<T> identity, const T* x, T* to) {
  OrderedReduction<F, T, 1> reduction(identity);
  const Axis<1> inner = nest.reduced.empty() ? Axis<1>{1, {1}} : nest.reduced[0];
  for_each_offset(nest.kept, 0, [&](const std::array<std::int64_t, 2>& offsets) {
    for_each_offset(nest.reduced, 1, [&](const std::array<std::int64_t, 1>& run) {
      reduction.add_run(x + offsets[0] + run[0], inner.strides[0], inner.extent);
    });
    reduction.finish(to + offsets[1], 1);
  });
}

bool prefers_columns(const Nest& nest) {
  if (nest.kept.empty() || nest.reduced.empty() || nest.kept[0].strides[1] != 1 ||
      nest.kept[0].extent < 4)
    return false;
  return std::abs(nest.kept[0].strides[0]) < std::abs(nest.reduced[0].strides[0]);
}

using Reduce = void (*)(const Nest& nest, const std::byte* x, std::byte* to);

template <class F, class T, class Identity>
void reduce(const Nest& nest, const std::byte* x, std::byte* to) {
  if (x == nullptr) {  // no terms
    std::int64_t results = 1;
    for (const Axis<2>& axis : nest.kept) results *= axis.extent;
    std::fill_n(reinterpret_cast<T*>(to), results, static_cast<T>(Identity::value));
    return;
  }
  const T* from = reinterpret_cast<const T*>(x);
  T* const results = reinterpret_cast<T*>(to);
  std::int64_t terms = 1;
  for (const Axis<1>& axis : nest.reduced) terms *= axis.extent;
  for (const Axis<2>& axis : nest.kept) terms *= axis.extent;
  if (prefers_columns(nest)) {
    const std::int64_t extent = nest.kept[0].extent;
    parallel_ranges(extent, shared_grain(extent, terms / extent, columns),
                    [&](std::int64_t low, std::int64_t high) {
                      reduce_columns<F, T>(nest, Identity::value, from, results, low, high);
                    });
    return;
  }
  if (reduce_blocks<F, T>(nest, Identity::value, from, results)) return;
  if (nest.kept.empty()) return reduce_each<F, T>(nest, Identity::value, from, results);
  // Parts of the outermost axis that stays.
  const Axis<2> outer = nest.kept.back();
  parallel_ranges(outer.extent, shared_grain(outer.extent, terms / outer.extent),
                  [&](std::int64_t low, std::int64_t high) {
                    Nest part = nest;
                    part.kept.back().extent = high - low;
                    reduce_each<F, T>(part, Identity::value, from + low * outer.strides[0],
                                      results + low * outer.strides[1]);
                  });
}

Nest nest_of(const Array& x, const Array& result, const Shape& axes) {
  Shape kept_shape, kept_strides, reduced_shape, reduced_strides;
  for (std::size_t i = 0; i < x.type.shape.size(); ++i) {
    const bool is_reduced =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    (is_reduced ? reduced_shape : kept_shape).push_back(x.type.shape[i]);
    (is_reduced ? reduced_strides : kept_strides).push_back(x.strides[i]);
  }
  return Nest{merge_axes<2>(kept_shape, {&kept_strides, &result.strides}),
              merge_axes<1>(reduced_shape, {&reduced_strides})};
}

/// `is_logical` keeps integers away from `reduce_and` and `reduce_or`, whose functors would take
/// them.
template <class F, template <class> class Identity, bool is_logical>
TensorList reduction_kernel(const Invocation& step, TensorList operands) {
  static constexpr PerDtype<Reduce> table = per_dtype<Reduce>([]<class T>() -> Reduce {
    using Computed = scalar::Compute<T>;
    if constexpr (std::is_invocable_v<F, Computed, Computed> &&
                  std::same_as<T, bool> == is_logical) {
      return &reduce<F, T, Identity<Computed>>;
    } else {
      return nullptr;
    }
  });
  const Array& x = array_of(operands[0]);
  const Reduce run = entry_for(table, x.type.dtype, step);
  auto result = Array::allocate(step.result_types[0]);
  if (result->type.size() > 0) {
    run(nest_of(x, *result, step.attributes.shape("axes")), first_byte(x), first_byte(*result));
  }
  return list_of(std::move(result));
}

}  // namespace

void add_reduction_kernels(KernelTable& table) {
  table.add("reduce_sum", reduction_kernel<scalar::Add, SumIdentity, false>);
  table.add("reduce_prod", reduction_kernel<scalar::Mul, ProdIdentity, false>);
  table.add("reduce_max", reduction_kernel<scalar::Max, MaxIdentity, false>);
  table.add("reduce_min", reduction_kernel<scalar::Min, MinIdentity, false>);
  table.add("reduce_and", reduction_kernel<scalar::And, AndIdentity, true>);
  table.add("reduce_or", reduction_kernel<scalar::Or, OrIdentity, true>);
}

}  // namespace hom::cpu
