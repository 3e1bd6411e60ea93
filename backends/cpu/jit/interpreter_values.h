// backends/cpu/jit/interpreter_values.h -- which values are scalars, which are tiles
//
// What depends on the vector axis differs from lane to lane. Indices that move with that axis by a
// fixed step are kept as scalars, those of the first lane; they become tiles only where something
// else than an address is computed from them.
#pragma once

#include <optional>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::cpu {

/// `index_add` … `index_remainder`.
bool is_index_arithmetic(nest::Node::Kind kind);

struct InterpretedValues {
  explicit InterpretedValues(const nest::Kernel& kernel);

  /// Whether it differs from lane to lane by a fixed step.
  bool is_moving(nest::Value value) const { return varies[value] && step[value].has_value(); }

  /// nest::vector_values
  std::vector<bool> varies;
  /// By how much it grows from one lane to the next, if that is fixed; 0 where it does not vary.
  std::vector<std::optional<std::int64_t>> step;
  /// Whether something else than an address is computed from it.
  std::vector<bool> is_tile;
};

}  // namespace hom::cpu
