// backends/cpu/routines/convolution_routine.h -- `conv_general` with the fastest products there are
#pragma once

#include <memory>
#include <span>

#include <hom/backends/nests/plan.h>
#include <hom/core/executor.h>

namespace hom::cpu {

/// Of row-major operands. f32 and f64 by the products of `float_product.h`, or for one channel in
/// each group as the eager executor; integers and 16-bit floats have the bits of the eager
/// executor. Throws `Error` for bool.
std::shared_ptr<const nest::Routine> convolution_routine(const Invocation& step,
                                                         std::span<const nest::Layout> operands);

}  // namespace hom::cpu
