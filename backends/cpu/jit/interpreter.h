// backends/cpu/jit/interpreter.h -- kernels run without a compiler
//
// A loop along the vector axis is run a tile of up to 512 positions at a time: each value of the
// kernel is a small array then, and each operation one call of the row function that eager kernels
// use (backends/cpu/scalar_rows.h). All other loops are run position by position. Bits are those of
// eager kernels.
#pragma once

#include <memory>
#include <span>

#include <hom/backends/cpu/jit/code.h>

namespace hom::cpu {

/// The kernels of a plan, in order, prepared once: launches only follow what is laid out here, and
/// allocate nothing but a thread's scratch memory the first time it is needed. Throws `Bug` where a
/// kernel is not well-formed.
std::shared_ptr<const Code> interpret(std::span<const nest::Kernel> kernels);

}  // namespace hom::cpu
