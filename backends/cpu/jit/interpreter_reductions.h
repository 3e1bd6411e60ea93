// backends/cpu/jit/interpreter_reductions.h -- reductions in progress, as bytes of scratch memory
#pragma once

#include <hom/backends/nests/nest.h>

namespace hom::cpu {

/// Lanes whose reductions can run side by side.
inline constexpr std::int64_t reduced_lanes = 128;

struct ReductionFunctions {
  /// What it is so far.
  std::size_t bytes;
  /// Whether `begin` is called before each loop; else once is enough, because `finish` starts anew.
  bool begins_with_loop;
  void (*begin)(std::byte* state);
  /// The next n terms of the only sequence; of reductions side by side, the next term of each of
  /// the n sequences. The stride, 0 or 1, counts terms.
  void (*add)(std::byte* state, const std::byte* terms, std::int64_t stride, std::int64_t n);
  /// Writes n results.
  void (*finish)(std::byte* state, std::byte* results, std::int64_t n);
};

/// How terms of `dtype` are reduced, in the order of ordered_sum.h: of one sequence, or of up to
/// `reduced_lanes` side by side.
ReductionFunctions reduction_functions(nest::Combine combine, Dtype dtype, bool side_by_side);
/// How results of blocks are combined (nest::Reduction::pairwise), in one sequence.
ReductionFunctions pairwise_functions(nest::Combine combine, Dtype dtype);

}  // namespace hom::cpu
