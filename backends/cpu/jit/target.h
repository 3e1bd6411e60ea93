// backends/cpu/jit/target.h -- the processor that kernels are compiled for
#pragma once

#include <string>
#include <vector>

namespace hom::cpu {

struct Target {
  /// Of the widest vectors: 16, 32 or 64.
  int vector_bytes;
  /// What the compiler is told; x86-64 levels, because -march=native would also choose a processor
  /// to tune for, which costs matrix products a third (g++ 12 on Zen).
  std::vector<std::string> flags;
  /// `AVX2`
  std::string name;
};

/// What this processor has.
const Target& host_target();

/// All that this processor can run, narrowest first: for tests.
std::vector<Target> host_targets();

}  // namespace hom::cpu
