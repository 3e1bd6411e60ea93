// backends/cpu/jit/native_code.h -- the kernels of a plan, compiled by the system's compiler
#pragma once

#include <memory>
#include <string>

#include <hom/backends/cpu/jit/code.h>
#include <hom/backends/cpu/jit/target.h>

namespace hom::cpu {

/// Native code, or null and one line that says why there is none: no compiler, or one that fails.
struct NativeCode {
  /// Where the code came from.
  enum class Source { compiler, memory, disk };

  std::shared_ptr<const Code> code;
  std::string why_not = {};
  Source source = Source::compiler;
};

/// Emits, compiles and loads a plan. Equal texts are compiled once: the last ones stay in memory,
/// and more of them on disk (CodeCache::of_environment()). The plan need not outlive the code.
/// Thread-safe. The environment says which compiler (system_compiler.h) and where the cache is.
NativeCode native_code(const nest::Plan& plan, const Target& target = host_target());

/// Forgets code in memory that no executable holds: for tests.
void forget_native_code();

}  // namespace hom::cpu
