// backends/cpu/jit/tiers.cc -- native code where it can be made, else the interpreter
#include <hom/backends/cpu/jit/tiers.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <hom/backends/cpu/jit/interpreter.h>
#include <hom/backends/cpu/jit/native_code.h>
#include <hom/backends/cpu/jit/x86_code.h>

namespace hom::cpu {

namespace {

/// `HOM_EMITTER=c++` has `automatic` and `native` take the compiler.
bool wants_compiler() {
  const char* const emitter = std::getenv("HOM_EMITTER");
  return emitter != nullptr && std::string_view(emitter) == "c++";
}

}  // namespace

std::shared_ptr<const Code> code_for(const nest::Plan& plan, Tier tier) {
  if (tier == Tier::interpreter) return interpret(plan.kernels);
  std::string why_not;
  if (tier != Tier::portable && !wants_compiler()) {
    x86::MachineCode machine = x86::machine_code(plan, x86::machine_target());
    if (machine.code) return std::move(machine.code);
    why_not = machine.why_not + "; ";
  }
  NativeCode native = native_code(plan);
  if (native.code) return std::move(native.code);
  why_not += native.why_not;
  require(tier == Tier::automatic, {}, [&] {
    return Complaint{"compile: no native code: " + why_not,
                     "install g++ or clang++, or name one in $HOM_CXX; Tier::automatic takes the "
                     "interpreter then"};
  });
  static std::atomic<bool> has_said = false;
  if (!has_said.exchange(true))
    std::cerr << "hom: compiled functions are interpreted: " << why_not << '\n';
  return interpret(plan.kernels);
}

}  // namespace hom::cpu
