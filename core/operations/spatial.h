// core/operations/spatial.h -- windows along spatial axes, from the options of pooling and
// convolution
#pragma once

#include <string>
#include <vector>

#include <hom/core/error.h>
#include <hom/core/object.h>
#include <hom/core/operations/padding.h>
#include <hom/core/windows.h>

namespace hom {

/// The windows along each spatial axis: of these sizes, moved by `stride` and spread by `dilation`,
/// where empty lists are all 1, within `padding`. `first_axis` is the number of the first spatial
/// axis. Throws `Error` for lists of another length or with entries that make no sense, and where
/// not one window fits.
std::vector<WindowAxis> spatial_windows(const std::string& operation, const TensorType& x,
                                        std::int64_t first_axis, const Shape& size,
                                        const Shape& stride, const Shape& dilation,
                                        const Padding& padding, const Location& at);

/// `list`, or all `otherwise` where it is empty; throws for another length and for entries below
/// `least`.
Shape spatial_list(const std::string& operation, const char* what, const Shape& list,
                   std::size_t axes, std::int64_t otherwise, std::int64_t least,
                   const Location& at);

}  // namespace hom
