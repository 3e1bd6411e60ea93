// backends/cpu/jit/tiers.cc -- native code where it can be made, else the interpreter
#include <hom/backends/cpu/jit/tiers.h>

#include <atomic>
#include <iostream>

#include <hom/backends/cpu/jit/interpreter.h>
#include <hom/backends/cpu/jit/native_code.h>

namespace hom::cpu {

std::shared_ptr<const Code> code_for(const nest::Plan& plan, Tier tier) {
  if (tier == Tier::interpreter) return interpret(plan.kernels);
  NativeCode native = native_code(plan);
  if (native.code) return std::move(native.code);
  require(tier == Tier::automatic, {}, [&] {
    return Complaint{"compile: no native code: " + native.why_not,
                     "install g++ or clang++, or name one in $HOM_CXX; Tier::automatic takes the "
                     "interpreter then"};
  });
  static std::atomic<bool> has_said = false;
  if (!has_said.exchange(true))
    std::cerr << "hom: compiled functions are interpreted: " << native.why_not << '\n';
  return interpret(plan.kernels);
}

}  // namespace hom::cpu
