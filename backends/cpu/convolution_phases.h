// backends/cpu/convolution_phases.h -- which elements and which places of the kernel the outputs of
// a convolution meet
//
// Outputs that meet the same places of the kernel are a phase: without gaps in x there is one.
#pragma once

#include <cstdint>
#include <vector>

#include <hom/core/windows.h>

namespace hom::cpu {

struct ConvolutionSizes {
  std::int64_t batch, groups;
  /// Channels of x and of y in each group.
  std::int64_t in, out;
  std::vector<ConvolutionAxis> axes;

  std::int64_t x_channels() const { return groups * in; }
  std::int64_t y_channels() const { return groups * out; }
  /// Elements of x and y, and places of the kernel, along the axes: products of their extents.
  std::int64_t x_elements() const;
  std::int64_t y_elements() const;
  std::int64_t places() const;
};

/// Along one axis, the outputs first, first + step, … and what all of them meet.
struct PhaseAxis {
  std::int64_t first, step, count;
  /// From output to output of the phase, in elements of x.
  std::int64_t stride;
  /// Places of the kernel, and the elements of x that the first output meets there (maybe outside).
  std::vector<std::int64_t> taps, elements;
  std::int64_t extent;

  /// From place to place of each output, in elements; 0 where they are not equally far apart.
  std::int64_t tap_step() const;
};

struct ConvolutionPhase {
  std::vector<PhaseAxis> axes;
  /// Places of the kernel, counted in row-major order.
  std::vector<std::int64_t> taps;
  /// Along the last axis; 0 without axes.
  std::int64_t tap_step;
  /// The outputs in one element of the batch: their number in y, and where they begin along each
  /// axis of x.
  std::vector<std::int64_t> outputs, positions;

  /// Whether the patches are x as it lies there.
  bool is_identity() const;
};

std::vector<ConvolutionPhase> convolution_phases(const ConvolutionSizes& sizes);

/// Calls f(index) for each index below the extents, in row-major order.
template <class F>
void for_each_index(const Shape& extents, F&& f) {
  for (const std::int64_t extent : extents) {
    if (extent == 0) return;
  }
  Shape index(extents.size(), 0);
  while (true) {
    f(static_cast<const Shape&>(index));
    std::size_t d = extents.size();
    for (; d > 0; --d) {
      if (++index[d - 1] < extents[d - 1]) break;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace hom::cpu
