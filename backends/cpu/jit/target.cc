// backends/cpu/jit/target.cc -- asking the processor
#include <hom/backends/cpu/jit/target.h>

namespace hom::cpu {

std::vector<Target> host_targets() {
#if defined(__x86_64__)
  std::vector<Target> targets{{16, {}, "SSE2"}};
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (has_avx2) targets.push_back({32, {"-march=x86-64-v3"}, "AVX2"});
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) {
    // Both compilers would rather use halves of these registers.
    targets.push_back({64, {"-march=x86-64-v4", "-mprefer-vector-width=512"}, "AVX-512"});
  }
  return targets;
#else
  return {{16, {}, "128-bit vectors"}};
#endif
}

const Target& host_target() {
  static const Target target = host_targets().back();
  return target;
}

}  // namespace hom::cpu
