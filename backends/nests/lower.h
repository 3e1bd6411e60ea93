// backends/nests/lower.h -- a program as a plan: kernels and routines in order
#pragma once

#include <functional>

#include <hom/backends/nests/plan.h>
#include <hom/backends/nests/strips.h>
#include <hom/core/executor.h>
#include <hom/core/program.h>

namespace hom::nest {

/// What a backend brings, and how far steps are fused.
struct LowerOptions {
  /// Code for a step that does not become loops, for operands of these layouts.
  std::function<std::shared_ptr<const Routine>(const Invocation& step,
                                               std::span<const Layout> operands)>
      routine;
  /// Whether that code reads operand k as it lies; row-major operands it always takes.
  std::function<bool(const Invocation& step, std::size_t operand, const Layout& layout)>
      takes_layout = {};
  /// Whether the backend has code for a step with a program inside (`composite`).
  std::function<bool(const Invocation& step)> has_routine = {};
  /// Values of one kernel, at most.
  std::int64_t largest_kernel = 1024;
  bool fuse = true;
  /// When arrays that steps of a batch hand on are kept in the cache.
  StripOptions strips = {};
};

/// The plan of a program; `plan_memory` gives its temporaries their places. Throws `Error` where
/// the backend has no code for a step.
Plan lower(const Program& program, const LowerOptions& options);

}  // namespace hom::nest
