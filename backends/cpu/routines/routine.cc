// backends/cpu/routines/routine.cc -- which routine computes a step
#include <hom/backends/cpu/routines/routine.h>

#include <hom/backends/cpu/arrays.h>
#include <hom/backends/cpu/routines/contraction_routine.h>
#include <hom/backends/cpu/routines/convolution_routine.h>
#include <hom/backends/cpu/routines/kernel_routine.h>

namespace hom::cpu {

std::shared_ptr<const nest::Routine> routine_for(const Invocation& step,
                                                 std::span<const nest::Layout> operands) {
  if (step.primitive.name == "dot_general") return contraction_routine(step, operands);
  if (step.primitive.name == "conv_general") return convolution_routine(step, operands);
  return kernel_routine(step, operands);
}

bool takes_layout(const Invocation& step, std::size_t /*operand*/, const nest::Layout& layout) {
  return step.primitive.name == "dot_general" || layout.type.size() == 0 ||
         is_row_major(layout.type.shape, layout.strides);
}

}  // namespace hom::cpu
