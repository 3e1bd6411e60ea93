// backends/nests/roles.h -- what becomes of each primitive in loops
#pragma once

#include <hom/core/program.h>

namespace hom::nest {

enum class Role : std::uint8_t {
  /// A literal or positions: computed wherever it is wanted.
  leaf,
  /// A tensor of the closure.
  captured,
  /// Shows elements of its operands: never computed, but an index elsewhere. `slice`, `reshape`,
  /// `transpose`,
  /// `broadcast_in_dim`, `stop_gradient`; `concat` and `pad` where all that they join is unrolled.
  view,
  /// A scalar function of the operands at the same index.
  elementwise,
  /// `update_slice` all of whose window is unrolled: elementwise, with a choice made at compile
  /// time.
  chosen,
  /// Over axes of its operand: sum … argmin.
  reduction,
  /// A product so small that it is a sum of products in the loops around.
  contraction,
  /// Read their first operand at computed places, so it has to be in memory: `gather`,
  /// `dynamic_slice`, `pad`.
  reading,
  /// Several tensors in one, each stored where it is computed.
  concat,
  /// Change a part of their first operand, in its memory where it dies: `scatter`, `update_slice`,
  /// `dynamic_update_slice`.
  update,
  /// `cumsum` … `cummin`.
  cumulative,
  /// The same values, but not computed before what came before: `barrier`.
  barrier,
  /// Programs inside: `scan`, `while`, `cond`, and those that are called.
  control,
  /// Everything else: code of the backend.
  routine,
};

Role role_of(const Program& program, const Step& step);

}  // namespace hom::nest
