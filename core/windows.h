// core/windows.h -- where windows lie that slide along the axes of a tensor
#pragma once

#include <cstdint>
#include <vector>

#include <hom/core/attribute.h>
#include <hom/core/dtype.h>

namespace hom {

/// Windows along one axis: window o has the elements o·stride − low + k·dilation for k below
/// `window`; those outside 0 … extent − 1 are padding. Windows lie within the axis and `low` and
/// `high` places of padding around it.
struct WindowAxis {
  std::int64_t extent = 1;
  std::int64_t window = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t low = 0;
  std::int64_t high = 0;

  /// From the first element of a window to its last, both included.
  std::int64_t span() const { return (window - 1) * dilation + 1; }
  /// How many windows there are.
  std::int64_t count() const {
    const std::int64_t padded = low + extent + high;
    return padded < span() ? 0 : (padded - span()) / stride + 1;
  }
  /// Where element k of window o is, maybe in the padding.
  std::int64_t position(std::int64_t o, std::int64_t k) const {
    return o * stride + k * dilation - low;
  }
  bool contains(std::int64_t position) const { return 0 <= position && position < extent; }
  /// The first window without an element inside the axis, or −1.
  std::int64_t empty_window() const;
  /// One window for each element, and only that in it.
  bool is_trivial() const { return window == 1 && stride == 1 && low == 0 && high == 0; }
};

/// One spatial axis of a convolution: output o is the sum over k of kernel element k times what
/// lies at o·stride + k·dilation − low, where element i of the axis lies at i·spacing. The gaps
/// between and the padding around are 0. Padding may be negative, which cuts elements off.
struct ConvolutionAxis {
  std::int64_t extent = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t spacing = 1;
  std::int64_t dilation = 1;

  /// Places from the first element to the last, both included.
  std::int64_t spread() const { return extent == 0 ? 0 : (extent - 1) * spacing + 1; }
  std::int64_t span() const { return (kernel - 1) * dilation + 1; }
  std::int64_t count() const {
    const std::int64_t padded = low + spread() + high;
    return padded < span() ? 0 : (padded - span()) / stride + 1;
  }
  /// The element that kernel element k of output o meets; −1 in a gap, −2 in the padding.
  std::int64_t element(std::int64_t o, std::int64_t k) const {
    const std::int64_t place = o * stride + k * dilation - low;
    if (place % spacing != 0) return -1;
    const std::int64_t i = place / spacing;
    return 0 <= i && i < extent ? i : -2;
  }
  /// From outputs back to the axis: the transpose, with the kernel reversed.
  ConvolutionAxis transposed() const;
  /// From the axis, with outputs in the place of the kernel, to the kernel.
  ConvolutionAxis onto_kernel() const;
};

/// The spatial axes of a convolution of operands of these shapes, by the attributes stride, low,
/// high, lhs_dilation and rhs_dilation.
std::vector<ConvolutionAxis> convolution_axes(const Attributes& attributes, const Shape& x,
                                              const Shape& kernel);

/// The axes of a tensor of this shape, by the attributes window, stride, dilation, low and high,
/// which have one entry for each.
std::vector<WindowAxis> window_axes(const Attributes& attributes, const Shape& shape);

/// For each window in row-major order, the numbers of its elements in the tensor, in row-major
/// order too.
std::vector<std::vector<std::size_t>> window_elements(const std::vector<WindowAxis>& axes);

}  // namespace hom
