// backends/cpu/explain.h -- what a compiled function consists of: kernels, routines, memory
//
//     std::cout << explain(step, x, y);
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <hom/backends/cpu/compile.h>

namespace hom::nest {
struct Plan;
}  // namespace hom::nest

namespace hom {

/// One kernel, routine or copy of a compiled program.
struct ExplainedStep {
  enum class Kind : std::uint8_t { kernel, routine, copy };
  Kind kind = Kind::kernel;
  /// `sum_v12`, `dot_general by Eigen`, `copy`
  std::string name;
  /// The user's lines that it came from: `train.cc:23 mul, in `forward``.
  std::vector<std::string> lines;
  /// What it reads and writes: `reads x: f32[64, 784], an input`.
  std::vector<std::string> buffers;
  /// The loops of a kernel, or of the epilogue of a routine; empty where there are none.
  std::string loops;
  /// The text that was compiled for those; empty for the interpreter.
  std::string source;
  /// Of one run: additions and the like, and bytes that a perfect cache would move.
  double flops = 0;
  double bytes = 0;
  /// How deep it stands in loops and branches of the plan.
  int depth = 0;
  /// Runs in one call; −1 where that depends on values.
  std::int64_t runs = 1;
};

/// Temporaries of a compiled program.
struct ExplainedMemory {
  /// What a run takes for temporaries.
  std::int64_t arena_bytes = 0;
  /// The most bytes of temporaries that are needed at once.
  std::int64_t live_bytes = 0;
  /// The sum of all temporaries, each in memory of its own.
  std::int64_t temporary_bytes = 0;
  std::int64_t constant_bytes = 0;
  /// Results that are written where an operand was: `v12 over v11, in sum_v12`.
  std::vector<std::string> in_place;
  /// `output 0 may take the memory of input `x``, where the caller gives that away.
  std::vector<std::string> donations;
};

/// What `explain` tells; print it, or look at its parts.
struct Explanation {
  /// `g++ 12.2, AVX2`, `interpreter`
  std::string tier;
  /// In the order of the plan's text.
  std::vector<ExplainedStep> steps;
  ExplainedMemory memory;
  /// The plan: buffers, then instructions.
  std::string plan;
};

Explanation explain(const CompiledProgram& program);
/// Of the program for these arguments (or types), compiled if it has not been.
template <class F, class... Args>
Explanation explain(const Compiled<F>& f, const Args&... args) {
  return explain(f.prepare(args...));
}

/// Steps, their loops and lines, and the memory; with the compiled text where asked for.
std::string to_string(const Explanation& explanation, bool with_source = false);
std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

/// A step that did not become what it could have.
struct Fallback {
  std::string primitive;
  /// `train.cc:23, in `forward``
  std::string where;
};
std::ostream& operator<<(std::ostream& out, const Fallback& fallback);

/// Steps that an eager kernel runs although Hom has loops for their primitive: none, if nothing
/// fell back. Products, factorizations, sorting, transforms and a user's own primitives have no
/// loops.
std::vector<Fallback> fallbacks(const CompiledProgram& program);
/// The same of a plan, for the library.
std::vector<Fallback> fallbacks(const nest::Plan& plan);
template <class F, class... Args>
std::vector<Fallback> fallbacks(const Compiled<F>& f, const Args&... args) {
  return fallbacks(f.prepare(args...));
}

}  // namespace hom
