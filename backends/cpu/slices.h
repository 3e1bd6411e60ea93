// backends/cpu/slices.h -- the slices of a row-major array along one axis
#pragma once

#include <hom/core/object.h>

namespace hom::cpu {

/// Element i of a slice is at first + i·stride, in every row-major array of the shape.
struct Slices {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t stride = 1;

  Slices(const Shape& shape, std::size_t axis) : extent(shape[axis]) {
    for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
    for (std::size_t i = axis + 1; i < shape.size(); ++i) stride *= shape[i];
  }
  /// Calls visit(first) for each slice.
  template <class Visitor>
  void for_each(Visitor&& visit) const {
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < stride; ++i) visit(o * extent * stride + i);
    }
  }
};

}  // namespace hom::cpu
