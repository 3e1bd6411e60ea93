// core/operations/convolution.h -- convolutions of signals, images and volumes, and their
// transposes
//
//     conv(x, kernel)                                         // x [8, 28, 28, 3], kernel [5, 5, 3,
//     16] conv(x, kernel, {.stride = {2, 2}, .padding = Padding::same()})
//
// As everywhere in machine learning, the kernel is not reversed: y[o] = Σ x[o·stride + k·dilation −
// low]·kernel[k], with 0 for x in the padding. x is [batch…, spatial…, channels]
// (operations/padding.h) and the kernel [spatial…, channels of x, channels of y]; its rank says how
// many axes are spatial: 1 for signals, 2 for images, 3 for volumes.
//
// With groups, channels of x and of y are split into as many parts, and each part of y sees its
// part of x only: the kernel is [spatial…, channels of x / groups, channels of y]. One group for
// each channel of x is a depthwise convolution, whose kernel is [spatial…, 1, channels of y].
//
// `Channels::first` takes x [batch…, channels, spatial…] and the kernel [channels of y, channels of
// x / groups, spatial…].
#pragma once

#include <hom/core/operations/padding.h>
#include <hom/core/tensor.h>

namespace hom {

struct ConvOptions {
  /// From output to output; 1 unless given.
  Shape stride = {};
  Padding padding = {};
  /// From element to element of the kernel; 1 unless given.
  Shape dilation = {};
  std::int64_t groups = 1;
  Channels channels = Channels::last;
};

/// The convolution of x with a kernel; of numbers, dtypes promote. 16-bit floats accumulate in 32
/// bits; integers wrap; the error of an element is that of `dot_general` with as many terms as the
/// kernel has for it. Padding counts as 0, so that an infinite weight on it gives NaN. Throws for
/// channels that do not fit, and where the kernel does not fit into x.
Tensor conv(const Operand& x, const Operand& kernel, const ConvOptions& options = {});

struct ConvTransposeOptions {
  Shape stride = {};
  Padding padding = {};
  Shape dilation = {};
  std::int64_t groups = 1;
  Channels channels = Channels::last;
  /// Of the result's spatial axes; needed where the stride leaves several and the smallest is not
  /// wanted. With `same`, n·stride is the default.
  Shape extents = {};
};

/// The transpose of `x ↦ conv(x, kernel, options)` at y: ⟨conv(x), y⟩ = ⟨x, conv_transpose(y)⟩. So
/// the kernel is that of the convolution, [spatial…, channels of the result / groups, channels of
/// y], and a stride makes images larger. Throws where no x has the extents that y has.
Tensor conv_transpose(const Operand& y, const Operand& kernel,
                      const ConvTransposeOptions& options = {});

/// How conv_general moves along the spatial axes; one entry for each.
struct Convolution {
  Shape stride;
  /// May be negative, which cuts elements off.
  Shape low;
  Shape high;
  /// Between the elements of x, with zeros in the gaps, and of the kernel.
  Shape lhs_dilation;
  Shape rhs_dilation;
  std::int64_t groups = 1;
};

/// The primitive behind both: x [batch, spatial…, channels] and kernel [spatial…, channels /
/// groups, channels of y] give [batch, spatial…, channels of y]. An axis where the kernel does not
/// fit has extent 0.
Tensor conv_general(const Operand& x, const Operand& kernel, const Convolution& convolution);

namespace detail {
/// The kernel of the transpose: reversed, and with its channels exchanged within each group.
Tensor transposed_kernel(const Tensor& kernel, std::int64_t groups);
}  // namespace detail

}  // namespace hom
