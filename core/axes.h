// core/axes.h -- lists of axes: counted from the end, checked, and completed
#pragma once

#include <cstdint>
#include <string>

#include <hom/core/dtype.h>
#include <hom/core/error.h>

namespace hom {

/// The length of the list, signed: the rank, where it is a shape.
inline std::int64_t signed_size(const Shape& list) {
  return static_cast<std::int64_t>(list.size());
}

/// first, first + 1, …, first + count − 1
Shape iota_shape(std::size_t count, std::int64_t first = 0);
bool contains(const Shape& list, std::int64_t value);
/// 0 … rank − 1 without those in `axes`, ascending.
Shape axes_without(std::size_t rank, const Shape& axes);

/// Axis counted from the end where negative; throws where it is outside −rank … rank − 1.
std::int64_t normal_axis(const std::string& operation, std::int64_t axis, std::int64_t rank,
                         const Location& at);
/// The same for each, sorted; throws where an axis is named twice.
Shape normal_axes(const std::string& operation, const Shape& axes, std::int64_t rank,
                  const Location& at);

}  // namespace hom
