// backends/cpu/shared_rows.h -- rows of strided arrays, by several threads where there are many
#pragma once

#include <algorithm>

#include <hom/backends/cpu/loops.h>
#include <hom/backends/cpu/sharing.h>
#include <hom/backends/cpu/thread_pool.h>

namespace hom::cpu {

/// Nanoseconds for an element of an eager loop, roughly.
inline constexpr float element_ns = 0.7F;

/// How many of `extent` positions, each of `elements` elements, make one chunk; 0 where all are too
/// few to be shared. A multiple of `unit`.
inline std::int64_t shared_grain(std::int64_t extent, std::int64_t elements,
                                 std::int64_t unit = 1) {
  const SharingLimits limits = sharing_limits();
  const float each = element_ns * static_cast<float>(std::max<std::int64_t>(elements, 1));
  if (each * static_cast<float>(extent) < limits.least_ns) return 0;
  const auto grain = static_cast<std::int64_t>(limits.chunk_ns / each);
  return std::max<std::int64_t>((grain + unit - 1) / unit, 1) * unit;
}

/// As `for_each_row`, for work on elements that are independent: parts of the outermost axis on
/// threads of the pool.
template <std::size_t N, class RowFunction>
void for_each_row_shared(const AxisList<N>& axes, const Pointers<N>& at,
                         const std::array<std::int64_t, N>& sizes, RowFunction&& row) {
  if (axes.empty()) return for_each_row(axes, at, sizes, row);
  const Axis<N> outer = axes.back();
  std::int64_t inner = 1;
  for (std::size_t d = 0; d + 1 < axes.size(); ++d) inner *= axes[d].extent;
  const std::int64_t grain = shared_grain(outer.extent, inner, axes.size() == 1 ? 64 : 1);
  if (grain == 0) return for_each_row(axes, at, sizes, row);
  parallel_ranges(outer.extent, grain, [&](std::int64_t low, std::int64_t high) {
    AxisList<N> part = axes;
    part.back().extent = high - low;
    Pointers<N> from = at;
    for (std::size_t k = 0; k < N; ++k) from[k] += low * outer.strides[k] * sizes[k];
    for_each_row(part, from, sizes, row);
  });
}

}  // namespace hom::cpu
