// backends/cpu/compile_options.h -- how functions are compiled
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hom {

/// What runs the loops of compiled functions.
enum class Tier : std::uint8_t {
  /// Machine code made in this process; where the processor is another one, what the system's
  /// compiler makes of C++; where there is none, the interpreter, with one line of notice on
  /// stderr.
  automatic,
  /// One of the first two, or an error that says what is missing.
  native,
  /// Needs no compiler, and starts at once.
  interpreter,
  /// C++ and the system's compiler, or an error that says what is missing: for any processor.
  portable,
};

struct CompileOptions {
  /// For errors, hints and pictures.
  std::string name = {};
  /// Whether floating-point sums and products may be reordered where that is faster; results may
  /// then differ from eager ones in their last digits.
  bool reassociate = false;
  Tier tier = Tier::automatic;
  /// How many signatures a compiled function keeps, at least 1; the one that was called least
  /// recently goes first.
  std::size_t cache = 32;
};

}  // namespace hom
