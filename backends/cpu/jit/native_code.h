// backends/cpu/jit/native_code.h -- the kernels of a plan, compiled by the system's compiler
#pragma once

#include <memory>
#include <string>

#include <hom/backends/cpu/jit/code.h>
#include <hom/backends/cpu/jit/target.h>

namespace hom::cpu {

/// Native code, or null and one line that says why there is none: no compiler, or one that fails.
struct NativeCode {
  std::shared_ptr<const Code> code;
  std::string why_not = {};
  /// Whether it was in a cache, in memory or on disk.
  bool was_cached = false;
};

/// Emits, compiles and loads a plan; equal texts are compiled once (code_cache.h). The plan need
/// not outlive the code.
NativeCode native_code(const nest::Plan& plan, const Target& target = host_target());

}  // namespace hom::cpu
