// backends/nests/slices.h -- what a kernel touches at a position of the axis that may be split
#pragma once

#include <cstdint>
#include <optional>

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// For an argument of which position p of the axis touches only elements [p·stride, (p + 1)·stride)
/// (element 0, where that is empty): the stride. Nothing where it touches others, or where that is
/// not known.
std::optional<std::int64_t> slice_stride(const Kernel& kernel, std::uint32_t argument, Axis axis);

}  // namespace hom::nest
