// backends/cpu/loops.h -- walking several strided arrays together, one row at a time
//
// AxisList are merged where every array steps through them as through one, so that a row is as long
// as it can be: two row-major arrays of any rank are walked by one call of the row function.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <hom/core/object.h>

namespace hom::cpu {

/// An axis that N arrays step along. Strides count elements.
template <std::size_t N>
struct Axis {
  std::int64_t extent;
  std::array<std::int64_t, N> strides;
};

/// Innermost first. Empty stands for a single element.
template <std::size_t N>
using AxisList = SmallVector<Axis<N>, 5>;

/// The axes of `shape` in order, without those of extent 1, adjacent ones merged where all arrays
/// allow.
template <std::size_t N>
AxisList<N> merge_axes(const Shape& shape, const std::array<const Shape*, N>& strides) {
  AxisList<N> axes;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    Axis<N> axis{shape[i], {}};
    for (std::size_t k = 0; k < N; ++k) axis.strides[k] = (*strides[k])[i];
    bool continues = !axes.empty();
    for (std::size_t k = 0; continues && k < N; ++k) {
      continues = axis.strides[k] == axes.back().strides[k] * axes.back().extent;
    }
    if (continues) {
      axes.back().extent *= axis.extent;
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

/// Makes a longer second axis the innermost where the first is too short to pay for a call per row.
/// Only for work whose order does not matter.
template <std::size_t N>
void prefer_long_rows(AxisList<N>& axes) {
  if (axes.size() > 1 && axes[0].extent < 8 && axes[1].extent > axes[0].extent) {
    std::swap(axes[0], axes[1]);
  }
}

template <std::size_t N>
using Pointers = std::array<std::byte*, N>;
/// Computes `n` elements; strides count elements of each array.
template <std::size_t N>
using Row = void (*)(const Pointers<N>& at, const std::array<std::int64_t, N>& strides,
                     std::int64_t n);

/// Calls `row(pointers, strides, n)` for each run along axes[0]. `at` points to the elements at
/// index 0…0, `sizes` are the bytes of one element of each array.
template <std::size_t N, class RowFunction>
void for_each_row(const AxisList<N>& axes, Pointers<N> at, const std::array<std::int64_t, N>& sizes,
                  RowFunction&& row) {
  if (axes.empty()) {
    std::array<std::int64_t, N> ones;
    ones.fill(1);
    row(at, ones, std::int64_t{1});
    return;
  }
  for (const Axis<N>& axis : axes) {
    if (axis.extent == 0) return;
  }
  SmallVector<std::int64_t, 5> index(axes.size(), 0);
  while (true) {
    row(at, axes[0].strides, axes[0].extent);
    std::size_t d = 1;
    for (; d < axes.size(); ++d) {
      const Axis<N>& axis = axes[d];
      const bool wraps = ++index[d] == axis.extent;
      const std::int64_t steps = wraps ? 1 - axis.extent : 1;
      for (std::size_t k = 0; k < N; ++k) at[k] += steps * axis.strides[k] * sizes[k];
      if (!wraps) break;
      index[d] = 0;
    }
    if (d == axes.size()) return;
  }
}

/// Calls `visit(offsets)` for each index along axes[first…], in row-major order; offsets count
/// elements.
template <std::size_t N, class Visitor>
void for_each_offset(const AxisList<N>& axes, std::size_t first, Visitor&& visit) {
  std::array<std::int64_t, N> offsets{};
  for (std::size_t d = first; d < axes.size(); ++d) {
    if (axes[d].extent == 0) return;
  }
  SmallVector<std::int64_t, 5> index(axes.size(), 0);
  while (true) {
    visit(offsets);
    std::size_t d = first;
    for (; d < axes.size(); ++d) {
      const bool wraps = ++index[d] == axes[d].extent;
      for (std::size_t k = 0; k < N; ++k) {
        offsets[k] += (wraps ? 1 - axes[d].extent : 1) * axes[d].strides[k];
      }
      if (!wraps) break;
      index[d] = 0;
    }
    if (d >= axes.size()) return;
  }
}

}  // namespace hom::cpu
