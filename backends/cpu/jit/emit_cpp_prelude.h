// backends/cpu/jit/emit_cpp_prelude.h -- the functions that emitted C++ is written with
#pragma once

#include <string>

namespace hom::cpu {

/// The text in front of emitted kernels: names of types, vectors of up to `vector_bytes`, and the
/// arithmetic of backends/cpu/scalar_*.h, core/convert_element.h, core/float16.h and
/// backends/cpu/ordered_sum.h, for numbers and vectors alike. It includes nothing and wants
/// `-fwrapv`.
std::string cpp_prelude(int vector_bytes);

}  // namespace hom::cpu
