// backends/optimise/optimise.h -- programs made cheaper before they are scheduled: named passes
//
//     Program faster = optimise(program(f, x, y));
//     std::cout << optimisation_report(program(f, x, y));      // what each pass changed
//
// An optimised program computes the same bits as the original (any NaN is as good as another),
// unless `reassociate` allows other roundings; the rules are listed, each with its reason, in
// docs/optimiser.md. It is for running, not for differentiating: custom rules and `stop_gradient`
// are gone from it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hom/core/program.h>

namespace hom {

/// What passes may do.
struct OptimiseOptions {
  /// Rules that change roundings, or the order of floating-point operations, hold too. Where values
  /// are NaN, infinite, or close to the ends of their dtype, results may then differ by more than
  /// roundings.
  bool reassociate = false;
  /// Which `composite` steps stay, because the executor has a kernel for them; empty: none.
  std::function<bool(const Step&)> keep_composite = {};
};

/// One thing that a pass does, for readers.
struct RuleDescription {
  /// `x + −y = x − y`
  std::string formula;
  /// Why results keep their bits, or what becomes of them.
  std::string why;
  /// Applied only where `OptimiseOptions::reassociate` says so.
  bool reassociates = false;
};

/// A function from programs to programs that compute the same. It works on the programs inside
/// loops and branches too, and keeps names, lines and scopes.
struct Pass {
  std::string name;
  std::string description;
  std::function<Program(const Program&, const OptimiseOptions&)> run;
  std::vector<RuleDescription> rules = {};
};

/// In the order in which they run.
std::span<const Pass> standard_passes();
/// Throws `Error` for an unknown name, with the nearest known one.
const Pass& pass_named(std::string_view name);

/// Sees each run of a pass that changed the program.
using PassObserver = std::function<void(const Pass&, const Program& before, const Program& after)>;

/// The program after all passes, again and again until none changes it (at most
/// `optimisation_rounds` times). Takes time in proportion to the steps of the program in which
/// calls are inlined, times the logarithm of their number.
Program optimise(const Program& program, const OptimiseOptions& options = {},
                 const PassObserver& observer = {});
inline constexpr int optimisation_rounds = 12;

/// What each pass changed: steps before and after, and the lines of text that went and came.
std::string optimisation_report(const Program& program, const OptimiseOptions& options = {});

/// Steps of the program and of the programs inside it, each counted once.
std::size_t all_steps(const Program& program);

}  // namespace hom
