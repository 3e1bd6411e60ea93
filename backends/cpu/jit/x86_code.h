// backends/cpu/jit/x86_code.h -- the kernels of a plan as machine code, made in this process
//
// asmjit encodes what x86_kernel.h chooses, in this process, so that no compiler is needed on the
// machine. What it means is what emit_cpp.h prints, bit for bit.
#pragma once

#include <memory>
#include <string>

#include <hom/backends/cpu/jit/code.h>
#include <hom/backends/cpu/jit/target.h>

namespace hom::cpu::x86 {

/// Whether machine code can be made for a processor like this one: x86-64 with AVX2, FMA, BMI2 and
/// F16C.
bool is_supported();

/// The target of `machine_code` here: AVX2, also where this processor has AVX-512, until that has
/// run on one that has.
const Target& machine_target();

/// Machine code, or null and one line that says why there is none.
struct MachineCode {
  std::shared_ptr<const Code> code;
  std::string why_not = {};
};

/// Emits all kernels of a plan for vectors of the target's size (16 and 32 bytes: AVX2; 64:
/// AVX-512). The plan need not outlive the code. Thread-safe.
MachineCode machine_code(const nest::Plan& plan, const Target& target);

/// The same text as an assembler would print it, for readers; checked instruction by instruction,
/// and for any target, whatever this processor has. Throws `Error` for what cannot be encoded.
std::string assembly(const nest::Kernel& kernel, int vector_bytes);

}  // namespace hom::cpu::x86
