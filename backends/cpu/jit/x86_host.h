// backends/cpu/jit/x86_host.h -- functions of the library, as machine code calls them
#pragma once

namespace hom::cpu::x86 {

/// The address of code that clears the upper halves of vector registers, as code without AVX
/// expects, and goes on at `function`. One for each function, made when it is first wanted.
/// Thread-safe.
void* entrance(void* function);

}  // namespace hom::cpu::x86
