// core/operations/pooling.h -- the largest and the mean of windows of an image, signal or volume
//
//     max_pool(x, {2, 2})                                       // windows side by side
//     avg_pool(x, {3, 3}, {.stride = {1, 1}, .padding = Padding::same()})
//
// x is [batch…, spatial…, channels] (operations/padding.h); the window has one entry for each
// spatial axis, and so says how many there are. Channels and batch are not pooled. Over whole
// images, `max` and `mean` of the spatial axes do.
#pragma once

#include <hom/core/operations/padding.h>
#include <hom/core/tensor.h>

namespace hom {

struct PoolOptions {
  /// From window to window; that of the window unless given, so that windows lie side by side.
  Shape stride = {};
  Padding padding = {};
  /// From element to element within a window.
  Shape dilation = {};
  /// Whether a last window counts that begins inside but ends behind the padding.
  bool partial_windows = false;
  /// avg_pool: whether the padding (given by number or by `same`) counts as zeros, or not at all.
  bool count_padding = false;
  Channels channels = Channels::last;
};

/// The largest (smallest) element of each window; of numbers. Padding is never the largest, however
/// negative x is. NaN wins. The gradient is shared equally among the ties of a window, and windows
/// that overlap add theirs. Throws where a window has only padding.
Tensor max_pool(const Operand& x, const Shape& window, const PoolOptions& options = {});
Tensor min_pool(const Operand& x, const Shape& window, const PoolOptions& options = {});
/// The mean of each window; of floats. 16-bit floats accumulate in 32 bits or more. Throws where a
/// window has only padding, unless that counts.
Tensor avg_pool(const Operand& x, const Shape& window, const PoolOptions& options = {});

}  // namespace hom
