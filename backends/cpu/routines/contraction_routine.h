// backends/cpu/routines/contraction_routine.h -- `dot_general` by the fastest product there is
#pragma once

#include <memory>
#include <span>

#include <hom/backends/nests/plan.h>
#include <hom/core/executor.h>

namespace hom::cpu {

/// f32 and f64 by the product that `float_product.h` chooses; integers and 16-bit floats have the
/// bits of the eager executor. Nothing is allocated when it runs. Throws `Error` for bool.
std::shared_ptr<const nest::Routine> contraction_routine(const Invocation& step,
                                                         std::span<const nest::Layout> operands);

}  // namespace hom::cpu
