// backends/optimise/loop_parts.h -- the programs inside loops and branches, taken apart and rebuilt
#pragma once

#include <optional>
#include <vector>

#include <hom/core/builder.h>

namespace hom::optimiser {

/// Where an input of a body comes from when the body is built anew.
struct Source {
  enum class Kind : std::uint8_t {
    /// It stays an input, and takes its place in the order given.
    input,
    literal,
    /// The same as another input, which is not such itself.
    same,
    /// Nothing that is wanted needs it.
    none,
  };
  Kind kind = Kind::input;
  Attribute value = {};
  std::size_t other = 0;
};

/// The body with its inputs from these sources, those that stay in this order, and these of its
/// slots as outputs. Literals get the line `at`.
Program rebuilt_body(const Program& body, const std::vector<Source>& sources,
                     const std::vector<std::size_t>& order, const std::vector<Slot>& outputs,
                     const Location& at);

/// Which inputs of a body the outputs marked need. With carries, the first outputs become the first
/// inputs when the body runs again, so a carry that is needed needs its own next value.
std::vector<bool> needed_inputs(const Program& body, const std::vector<bool>& wanted,
                                std::size_t carries);

/// The literal that defines a slot of a program.
std::optional<Attribute> literal_in(const Program& program, Slot slot);

}  // namespace hom::optimiser
