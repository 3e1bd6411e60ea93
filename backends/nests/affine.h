// backends/nests/affine.h -- how the values of a kernel move along one of its axes
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// For each value, what one step along `axis` adds to it: 0 where it does not depend on the axis,
/// the coefficient where it is an affine i64 index or such an index in i32, where it wraps, and
/// nothing where it is neither. A reduction's
/// result does not depend on an axis of its own loop; a state does where what it starts from or
/// becomes does.
std::vector<std::optional<std::int64_t>> strides_along(const Kernel& kernel, Axis axis);

/// Whether a store may meet in one iteration along the first axis of a loop what it stored in
/// another: it combines, or its place is looked up. Such iterations have an order.
bool stores_meet(const Kernel& kernel, const Loop& loop);

}  // namespace hom::nest
