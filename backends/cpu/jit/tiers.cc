// backends/cpu/jit/tiers.cc -- native code where it can be made, else the interpreter
#include <hom/backends/cpu/jit/tiers.h>

#include <atomic>
#include <iostream>

#include <hom/backends/cpu/jit/native_code.h>

namespace hom::cpu {

std::shared_ptr<const Code> code_for(const nest::Plan& plan, Tier tier) {
  NativeCode native = native_code(plan);
  require(native.code != nullptr, {}, [&] {
    return Complaint{"compile: no native code: " + native.why_not,
                     "install g++ or clang++, or name one in $HOM_CXX"};
  });
  static_cast<void>(tier);
  return std::move(native.code);
}

}  // namespace hom::cpu
