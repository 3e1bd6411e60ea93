// core/operations/windows.h -- sums and extremes over windows that slide along the axes
//
// `max_pool` and `avg_pool` (operations/pooling.h) are made of these. Lists have one entry for each
// axis of x; window o of an axis has the elements o·stride − low + k·dilation for k below `window`.
// Elements outside x are padding: they add nothing, and are never an extreme.
#pragma once

#include <hom/core/tensor.h>

namespace hom {

/// Windows along every axis. Extents are 1 or more, padding is 0 or more; an empty list is all 1
/// (stride, dilation) or all 0 (low, high).
struct Windows {
  Shape window;
  Shape stride = {};
  Shape dilation = {};
  Shape low = {};
  Shape high = {};
};

/// The sum over each window; of numbers. Axis i of the result has as many elements as there are
/// windows along it: ⌊(low + n + high − span)/stride⌋ + 1 with span = (window − 1)·dilation + 1, or
/// none where not even one fits. A window in the padding alone is 0. Floats accumulate in f64 and
/// round once; integers wrap.
Tensor window_sum(const Operand& x, const Windows& windows);
/// The largest (smallest) element of each window; of numbers; NaN wins. The gradient is shared
/// equally among the ties of a window, and windows that overlap add theirs; where NaN won it goes
/// to the NaN. Throws where a window has no element of x, naming the axis.
Tensor window_max(const Operand& x, const Windows& windows);
Tensor window_min(const Operand& x, const Windows& windows);

}  // namespace hom
